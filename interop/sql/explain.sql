-- What EXPLAIN says of a plan, taken from the document: the operators, and what they are about. Costs and numbers of rows are each server's own.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20), c INT NOT NULL, KEY ka (a), KEY kab (a, b))
CREATE TABLE u (id INT PRIMARY KEY, t_id INT NOT NULL, c INT, d INT, KEY kt (t_id), UNIQUE KEY kc (c))
CREATE TABLE v (x INT NOT NULL, y INT)
INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, i % 50, CONCAT('b', i % 7), i FROM n
INSERT INTO u WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, i % 500 + 1, i, i FROM n
INSERT INTO v VALUES (1, 1), (2, 2), (3, 3)
ANALYZE TABLE t, u, v
SELECT @@explain_format, @@explain_json_format_version
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM v
SELECT JSON_REMOVE(@p, '$.query', '$.query_plan.estimated_rows', '$.query_plan.estimated_total_cost') AS p
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM v WHERE x > 1 AND y <> 2
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.access_type') AS a, JSON_EXTRACT(@p, '$**.condition') AS c, JSON_EXTRACT(@p, '$**.filter_columns') AS f, JSON_EXTRACT(@p, '$**.used_columns') AS u
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM t WHERE a = 5
SELECT JSON_REMOVE(JSON_EXTRACT(@p, '$.query_plan'), '$.estimated_rows', '$.estimated_total_cost') AS p
EXPLAIN FORMAT=JSON INTO @p SELECT id, a FROM t WHERE a = 5
SELECT JSON_EXTRACT(@p, '$**.operation') AS o
EXPLAIN FORMAT=JSON INTO @p SELECT t.id, u.d FROM t JOIN u ON u.t_id = t.id WHERE t.a = 3
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.access_type') AS a, JSON_EXTRACT(@p, '$**.lookup_condition') AS l, JSON_EXTRACT(@p, '$**.lookup_references') AS r, JSON_EXTRACT(@p, '$**.key_columns') AS k, JSON_EXTRACT(@p, '$**.covering') AS c, JSON_EXTRACT(@p, '$**.join_type') AS j, JSON_EXTRACT(@p, '$**.join_algorithm') AS g
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM v v1 JOIN v v2 ON v1.y = v2.y
SELECT JSON_EXTRACT(@p, '$**.access_type') AS a, JSON_EXTRACT(@p, '$**.join_columns') AS c, JSON_EXTRACT(@p, '$**.heading') AS h, JSON_EXTRACT(@p, '$**.join_algorithm') AS g, JSON_LENGTH(@p, '$.query_plan.hash_condition') AS n
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM v v1 LEFT JOIN v v2 ON v1.x = v2.y AND v1.y > v2.x
SELECT JSON_EXTRACT(@p, '$**.access_type') AS a, JSON_EXTRACT(@p, '$**.extra_condition') AS e, JSON_EXTRACT(@p, '$**.alias') AS t, JSON_EXTRACT(@p, '$**.join_columns') AS c
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM v WHERE EXISTS (SELECT 1 FROM u WHERE u.t_id = v.x)
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.semijoin_strategy') AS s
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM t WHERE a BETWEEN 3 AND 4 AND c > 5
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.ranges') AS r, JSON_EXTRACT(@p, '$**.pushed_index_condition') AS i, JSON_EXTRACT(@p, '$**.index_access_type') AS x
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM t WHERE id IN (1, 2, 3)
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.ranges') AS r
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM t WHERE id < 5
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.ranges') AS r
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM t WHERE id >= 5 AND id < 7 ORDER BY id DESC LIMIT 1
SELECT JSON_EXTRACT(@p, '$**.operation') AS o
EXPLAIN FORMAT=JSON INTO @p SELECT a FROM t WHERE a IN (1, 2, 3, 4, 5) AND b > 'b3'
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.ranges') AS r
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM t ORDER BY id LIMIT 3
SELECT JSON_EXTRACT(@p, '$**.operation') AS o
EXPLAIN FORMAT=JSON INTO @p SELECT x FROM v ORDER BY y DESC, x LIMIT 1, 2
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.sort_fields') AS s, JSON_EXTRACT(@p, '$**.limit') AS l, JSON_EXTRACT(@p, '$**.limit_offset') AS f, JSON_EXTRACT(@p, '$**.per_chunk_limit') AS c
EXPLAIN FORMAT=JSON INTO @p SELECT a, COUNT(*), SUM(id) FROM t GROUP BY a
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.functions') AS f, JSON_EXTRACT(@p, '$**.group_by') AS g
EXPLAIN FORMAT=JSON INTO @p SELECT COUNT(DISTINCT y), GROUP_CONCAT(x ORDER BY y DESC) FROM v
SELECT JSON_EXTRACT(@p, '$**.operation') AS o
EXPLAIN FORMAT=JSON INTO @p SELECT x, ROW_NUMBER() OVER (ORDER BY y) FROM v
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.functions') AS f
EXPLAIN FORMAT=JSON INTO @p SELECT x, SUM(x) OVER (PARTITION BY y ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM v
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.buffering') AS b
EXPLAIN FORMAT=JSON INTO @p SELECT x, (SELECT MAX(d) FROM u WHERE u.t_id = v.x) FROM v
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.heading') AS h, JSON_EXTRACT(@p, '$**.dependent') AS d, JSON_EXTRACT(@p, '$**.subquery_location') AS l
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM v WHERE x > (SELECT MIN(y) FROM v)
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.dependent') AS d, JSON_EXTRACT(@p, '$**.cacheable') AS c, JSON_EXTRACT(@p, '$**.subquery_location') AS l
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM (SELECT y, COUNT(*) n FROM v GROUP BY y LIMIT 5) d
SELECT JSON_EXTRACT(@p, '$.query_plan.operation') AS o, JSON_EXTRACT(@p, '$.query_plan.used_columns') AS u
EXPLAIN FORMAT=JSON INTO @p WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT * FROM n
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.access_type') AS a, JSON_EXTRACT(@p, '$**.heading') AS h, JSON_EXTRACT(@p, '$**.cte') AS c, JSON_EXTRACT(@p, '$**.recursive') AS r
EXPLAIN FORMAT=JSON INTO @p SELECT x FROM v WHERE 1 = 0
SELECT JSON_REMOVE(@p, '$.query') AS p
EXPLAIN FORMAT=JSON INTO @p SELECT 1
SELECT JSON_REMOVE(@p, '$.query') AS p
EXPLAIN FORMAT=JSON INTO @p VALUES ROW(1), ROW(2)
SELECT JSON_REMOVE(@p, '$.query') AS p
EXPLAIN FORMAT=JSON INTO @p INSERT INTO v VALUES (1, 1)
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$.query_type') AS q
EXPLAIN FORMAT=JSON INTO @p REPLACE INTO v SELECT x, y FROM v WHERE x > 1
SELECT JSON_EXTRACT(@p, '$.query_plan.operation') AS o, JSON_EXTRACT(@p, '$.query_type') AS q
EXPLAIN FORMAT=JSON INTO @p DELETE v FROM v JOIN t ON t.id = v.x WHERE v.y > 1000
SELECT JSON_EXTRACT(@p, '$**.access_type') AS a, JSON_EXTRACT(@p, '$.query_type') AS q
EXPLAIN ANALYZE FORMAT=JSON INTO @p SELECT * FROM v WHERE x > 1 AND y <> 2
SELECT JSON_EXTRACT(@p, '$**.actual_rows') AS r, JSON_EXTRACT(@p, '$**.actual_loops') AS l, JSON_CONTAINS_PATH(@p, 'all', '$.query_plan.actual_first_row_ms', '$.query_plan.actual_last_row_ms') AS t
EXPLAIN ANALYZE FORMAT=JSON INTO @p SELECT t.id, u.d FROM t JOIN u ON u.t_id = t.id WHERE t.a = 3
SELECT JSON_EXTRACT(@p, '$**.operation') AS o, JSON_EXTRACT(@p, '$**.actual_rows') AS r, JSON_EXTRACT(@p, '$**.actual_loops') AS l
EXPLAIN ANALYZE FORMAT=JSON INTO @p SELECT * FROM v JOIN t ON t.id = v.x WHERE v.y > 50
SELECT JSON_EXTRACT(@p, '$**.actual_rows') AS r, JSON_EXTRACT(@p, '$**.actual_loops') AS l
EXPLAIN ANALYZE FORMAT=JSON INTO @p SELECT a, COUNT(*) FROM t GROUP BY a
SELECT JSON_EXTRACT(@p, '$**.actual_rows') AS r, JSON_EXTRACT(@p, '$**.actual_loops') AS l
EXPLAIN ANALYZE FORMAT=JSON INTO @p SELECT x, (SELECT MAX(d) FROM u WHERE u.t_id = v.x) FROM v
SELECT JSON_EXTRACT(@p, '$**.actual_rows') AS r, JSON_EXTRACT(@p, '$**.actual_loops') AS l
EXPLAIN ANALYZE FORMAT=JSON INTO @p DELETE v FROM v JOIN t ON t.id = v.x
SELECT COUNT(*) FROM v
EXPLAIN ANALYZE FORMAT=JSON INTO @p INSERT INTO v SELECT id, a FROM t
SELECT COUNT(*) FROM v
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM v WHERE NOT (y LIKE '1%') OR x NOT IN (1, 2) AND y NOT BETWEEN 1 AND 2 AND CASE WHEN x = 1 THEN 2 ELSE 3 END = 2
SELECT JSON_EXTRACT(@p, '$**.condition') AS c
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM v WHERE CASE x WHEN 1 THEN 2 END = CAST(y AS SIGNED) AND -x < y AND x + 1 <> 3 AND y IS NULL AND CONCAT(x, 'a''b') = 'q'
SELECT JSON_EXTRACT(@p, '$**.condition') AS c
EXPLAIN ANALYZE SELECT (SELECT x FROM v)
EXPLAIN ANALYZE SELECT * FROM nosuch
EXPLAIN ANALYZE FORMAT=traditional_strict SELECT 1
EXPLAIN ANALYZE FORMAT=TRADITIONAL SELECT 1
EXPLAIN FORMAT=xml SELECT 1
EXPLAIN FORMAT=default SELECT 1
SET explain_format = x
SET explain_format = traditional_strict
SELECT @@explain_format
SET explain_format = json
SET explain_json_format_version = 1
EXPLAIN ANALYZE SELECT 1
EXPLAIN ANALYZE FORMAT=JSON SELECT 1
EXPLAIN INTO @p SELECT 1
SET explain_json_format_version = 2
SET explain_format = DEFAULT
EXPLAIN FORMAT=TREE INTO @p SELECT 1
EXPLAIN FORMAT=TRADITIONAL INTO @p SELECT 1
EXPLAIN INTO @p SELECT 1
EXPLAIN FORMAT=JSON INTO p SELECT 1
EXPLAIN SELECT 1
EXPLAIN FOR DATABASE d SELECT 1
EXPLAIN FOR SCHEMA nosuch SELECT 1
EXPLAIN FOR CONNECTION 99999
EXPLAIN FOR CONNECTION -1
EXPLAIN FOR CONNECTION 'a'
EXPLAIN ANALYZE FOR CONNECTION 99999
EXPLAIN FORMAT=JSON INTO @p FOR CONNECTION 99999
EXPLAIN ANALYZE t
EXPLAIN FORMAT=JSON t
EXPLAIN DO 1
