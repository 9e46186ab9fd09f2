-- Statements that every client sends, and the everyday of SELECT.
SELECT 1, 'text', NULL, 1.50, -3, TRUE;
SELECT 1 + 1 AS two, 7 / 2, 7 DIV 2, 7 % 3, 2 * 3.5, -7 DIV 2, -7 % 3, 5 / 0, 1e3, 0x41, b'101';
CREATE TABLE people (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50) NOT NULL, age TINYINT UNSIGNED, city VARCHAR(30) DEFAULT 'Oslo', salary DECIMAL(10,2), joined DATE, KEY by_city (city), KEY by_age_name (age, name));
INSERT INTO people (name, age, city, salary, joined) VALUES ('Ada', 36, 'London', 1000.50, '2020-01-15'), ('Bob', 25, 'Paris', 800, '2021-05-20'), ('Cyd', NULL, 'Oslo', NULL, NULL), ('Dan', 25, 'London', 1200.75, '2019-12-31'), ('eve', 41, 'oslo', 950.00, '2022-02-28');
INSERT INTO people (name) VALUES ('Fay');
SELECT * FROM people ORDER BY id;
SELECT name, age FROM people WHERE age = 25 ORDER BY name;
SELECT name FROM people WHERE age IS NULL ORDER BY name;
SELECT name FROM people WHERE age <=> NULL ORDER BY name;
SELECT name FROM people WHERE city = 'OSLO' ORDER BY name;
SELECT DISTINCT city FROM people ORDER BY city;
SELECT city, COUNT(*), SUM(salary), AVG(salary), MIN(age), MAX(age) FROM people GROUP BY city ORDER BY city;
SELECT city, COUNT(*) AS n FROM people GROUP BY city HAVING n > 1 ORDER BY n DESC, city;
SELECT COUNT(*), COUNT(age), COUNT(DISTINCT age), SUM(age), AVG(age) FROM people;
SELECT name FROM people ORDER BY age DESC, name LIMIT 2;
SELECT name FROM people ORDER BY age, name LIMIT 2 OFFSET 2;
SELECT name FROM people ORDER BY id LIMIT 1, 3;
SELECT name FROM people WHERE id BETWEEN 2 AND 4 ORDER BY id;
SELECT name FROM people WHERE id IN (1, 3, 99) ORDER BY id;
SELECT name FROM people WHERE id NOT IN (1, 3) ORDER BY id;
SELECT name FROM people WHERE name LIKE 'b%' OR name LIKE '_ay' ORDER BY name;
SELECT name FROM people WHERE NOT (age > 30) ORDER BY name;
SELECT name, CASE WHEN age IS NULL THEN 'unknown' WHEN age < 30 THEN 'young' ELSE 'old' END AS kind FROM people ORDER BY id;
SELECT name, IF(age > 30, 'y', 'n'), IFNULL(age, -1), COALESCE(NULL, age, 0), NULLIF(age, 25) FROM people ORDER BY id;
SELECT UPPER(name), LENGTH(name), CONCAT(name, ' of ', city) FROM people ORDER BY id;
SELECT name AS n FROM people ORDER BY n DESC;
SELECT name, age + 1 FROM people ORDER BY 2, 1;
SELECT MAX(id), MIN(name) FROM people;
SELECT * FROM people WHERE 1 = 0;
SELECT COUNT(*) FROM people WHERE 1 = 0;
SELECT SUM(age) FROM people WHERE 1 = 0;
SELECT name FROM people WHERE salary > 900 AND (city = 'London' OR age > 40) ORDER BY id;
SELECT name FROM people WHERE joined >= '2020-01-01' AND joined < '2022-01-01' ORDER BY joined;
SELECT name, YEAR(joined), MONTH(joined), DAY(joined) FROM people WHERE joined IS NOT NULL ORDER BY id;
SELECT age, GROUP_CONCAT(name ORDER BY name SEPARATOR '|') FROM people GROUP BY age ORDER BY age;
SELECT @x := 5, @x + 1;
SET @y = 'abc';
SELECT @y, @nosuch;
SELECT /*! 1 + */ 1;
SELECT /*!50000 2 */ + 3;
SELECT 'it''s', "double", 'a\tb', 'back\\slash';
SELECT 1 FROM DUAL;
SELECT 'abc' 'def';
SELECT name FROM people p WHERE p.id = 1;
SELECT people.name FROM people WHERE people.id = 2;
SELECT t.* FROM (SELECT id, name FROM people WHERE age = 25) AS t ORDER BY id;
SELECT (SELECT MAX(age) FROM people) - age FROM people WHERE age IS NOT NULL ORDER BY id;
DROP TABLE people;
SELECT 2 = 2 IN (1), 0 = 'a' REGEXP -1, 1 < 3 BETWEEN 0 AND 1, 1.5 BETWEEN 0 AND 2 IN (1,NULL), 1 = 2 IS NULL, 1 IS NULL = 0, NOT 1 IN (2), NOT 1 = 2 IN (3), 1 + 1 IN (2), 2 | 1 IN (3), 1 = 1 LIKE 1, 3 <=> 3 NOT IN (4), 1 <> 5 NOT BETWEEN 1 AND 2, 5 > 'a' SOUNDS LIKE 'a', 1 BETWEEN 0 AND 1 = 1, 1 BETWEEN 0 AND 1 AND 1, 1 BETWEEN 0 AND 1 OR 0, 1 IN (1) = 1, 1 IN (1) IS TRUE, 1 = 1 IN (1) = 1, 'a' LIKE 'a' IS TRUE, 'a' LIKE 'A' COLLATE utf8mb4_bin, 'a|' LIKE 'a||' ESCAPE '|', 1 = 0 = 0, 4 BETWEEN 1 + 1 AND 3 + 2, 1 NOT BETWEEN 2 AND 3 BETWEEN 0 AND 1, -1 IN (-1), 5 IN (5) XOR 1, 1 REGEXP 1 AND 0, JSON_ARRAY(1) = 1 MEMBER OF ('[1]'), 1 = 1 MEMBER OF('[1]')
SELECT 1 IN (1) + 1
SELECT 1 IS NULL IN (0)
SELECT 1 BETWEEN 0 AND 1 + 1, 1 BETWEEN 0 AND 1 LIKE 1
SELECT 1 IS NULL + 1
SELECT (1 IN (1)) IN (2), (1 IN (1)) + 1, (1 IS NULL) + 1
SELECT 1 BETWEEN 0 AND 1 BETWEEN 0 AND 1 BETWEEN 0 AND 1
SELECT 1 IS TRUE + 1
SELECT 1 IS NULL IS NULL, 1 IS NULL = 0 IS TRUE
SELECT 'a' LIKE 'a' 'b'
SELECT 1 WHERE 1 IN (1) LIMIT 1
SELECT CASE WHEN 1 IN (1) THEN 2 END, CASE 1 WHEN 1 IN (1) THEN 3 END, 1 IN (1) AS a, 1 IN (1) b
CREATE TABLE precedence (a INT, b INT)
INSERT INTO precedence VALUES (1, 2), (2, 2), (0, 3)
SELECT * FROM precedence WHERE a = b IN (1, 2)
SELECT * FROM precedence WHERE a = b LIKE '2'
SELECT * FROM precedence WHERE a > b BETWEEN 2 AND 3
SELECT * FROM precedence WHERE a IN (SELECT b FROM precedence) = 1
SELECT * FROM precedence WHERE EXISTS (SELECT 1) = 1 IN (1)
UPDATE precedence SET a = b = a IN (1)
SELECT * FROM precedence
DROP TABLE precedence
