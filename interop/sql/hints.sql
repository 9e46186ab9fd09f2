-- What is warned of in optimizer hints, what SET_VAR does, and which plans hints ask for.
CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20), c INT, KEY ka (a), KEY kab (a, b), KEY kc (c))
CREATE TABLE u (id INT PRIMARY KEY, t_id INT NOT NULL, KEY kt (t_id))
CREATE TABLE v (x INT NOT NULL, y INT)
INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, i % 50, CONCAT('b', i % 7), i FROM n
INSERT INTO u WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i, i % 500 + 1 FROM n
INSERT INTO v VALUES (1, 1), (2, 2), (3, 3)
ANALYZE TABLE t, u, v
select /*+ NOSUCH(t) */ 1 from v limit 1
SHOW WARNINGS
select /*+ INDEX(t nosuch) */ 1 from t limit 1
SHOW WARNINGS
select /*+ INDEX(nosuch ka) */ 1 from t limit 1
SHOW WARNINGS
select /*+ NO_INDEX(t ka, kab) INDEX(t ka) */ 1 from t limit 1
SHOW WARNINGS
select /*+ INDEX(t) INDEX(t) */ 1 from t limit 1
SHOW WARNINGS
select /*+ INDEX() */ 1 from t limit 1
SHOW WARNINGS
select /*+ INDEX */ 1 from t limit 1
SHOW WARNINGS
select /*+ BKA(t) NO_BKA(t) */ 1 from t limit 1
SHOW WARNINGS
select /*+ BKA() NO_BKA() */ 1 from t limit 1
SHOW WARNINGS
select /*+ BKA(nosuch) MRR(t nosuch) NO_ICP(t) */ 1 from t limit 1
SHOW WARNINGS
select /*+ QB_NAME(a) QB_NAME(b) */ 1 from t limit 1
SHOW WARNINGS
select /*+ QB_NAME(a) */ 1 from t where id in (select /*+ QB_NAME(a) */ x from v) limit 1
SHOW WARNINGS
select /*+ BKA(@nosuch) */ 1 from t limit 1
SHOW WARNINGS
select /*+ BKA(@nosuch t) */ 1 from t limit 1
SHOW WARNINGS
select /*+ BKA(t@nosuch) */ 1 from t limit 1
SHOW WARNINGS
select /*+ BKA(@`select#1` t) */ 1 from t limit 1
SHOW WARNINGS
select /*+ JOIN_ORDER(t,nosuch) */ 1 from t,v limit 1
select /*+ JOIN_ORDER() */ 1 from t,v limit 1
SHOW WARNINGS
select /*+ JOIN_ORDER(t,v) JOIN_ORDER(v,t) */ 1 from t,v limit 1
SHOW WARNINGS
select /*+ JOIN_PREFIX(t) JOIN_PREFIX(v) */ 1 from t,v limit 1
SHOW WARNINGS
select /*+ JOIN_ORDER(t,v) JOIN_PREFIX(v) */ 1 from t,v limit 1
SHOW WARNINGS
select /*+ JOIN_FIXED_ORDER() JOIN_PREFIX(v) */ 1 from t,v limit 1
SHOW WARNINGS
select /*+ JOIN_FIXED_ORDER() JOIN_FIXED_ORDER() */ 1 from t,v limit 1
SHOW WARNINGS
select /*+ JOIN_FIXED_ORDER(t) */ 1 from t,v limit 1
SHOW WARNINGS
select /*+ JOIN_SUFFIX(v@q2, t) */ 1 from t where id in (select /*+ QB_NAME(q2) */ x from v) limit 1
SHOW WARNINGS
select /*+ SEMIJOIN(@q2 FIRSTMATCH) NO_SEMIJOIN(@q2 LOOSESCAN) */ 1 from t where id in (select /*+ QB_NAME(q2) */ x from v) limit 1
SHOW WARNINGS
select /*+ SEMIJOIN(@q2 NOSUCH) */ 1 from t where id in (select /*+ QB_NAME(q2) */ x from v) limit 1
SHOW WARNINGS
select /*+ SUBQUERY(@q2 INTOEXISTS) SUBQUERY(@q2 MATERIALIZATION) */ 1 from t where id in (select /*+ QB_NAME(q2) */ x from v) limit 1
SHOW WARNINGS
select /*+ SEMIJOIN(@q2) SUBQUERY(@q2 MATERIALIZATION) */ 1 from t where id in (select /*+ QB_NAME(q2) */ x from v) limit 1
SHOW WARNINGS
select /*+ SET_VAR(sort_buffer_size=100000) */ @@sort_buffer_size
SHOW WARNINGS
select @@sort_buffer_size > 200000
select /*+ SET_VAR(nosuch=1) */ 1
select /*+ SET_VAR(autocommit=0) */ 1
select /*+ SET_VAR(sql_mode='nosuch') */ 1
SHOW WARNINGS
select /*+ SET_VAR(sort_buffer_size=100000) SET_VAR(sort_buffer_size=200000) */ @@sort_buffer_size
SHOW WARNINGS
select /*+ SET_VAR(sort_buffer_size='abc') */ @@sort_buffer_size > 200000
SHOW WARNINGS
select /*+ SET_VAR(sort_buffer_size=2M) */ @@sort_buffer_size
SHOW WARNINGS
select /*+ SET_VAR(sort_buffer_size=1) */ @@sort_buffer_size
SHOW WARNINGS
select /*+ SET_VAR(max_execution_time=5000) */ @@max_execution_time
SHOW WARNINGS
select 1 from v where x in (select /*+ SET_VAR(sort_buffer_size=100000) */ 1) limit 1
SHOW WARNINGS
select 1 from v where x in (select /*+ MAX_EXECUTION_TIME(100) */ 1) limit 1
SHOW WARNINGS
select 1 union select /*+ MAX_EXECUTION_TIME(100) */ 2
SHOW WARNINGS
select /*+ MAX_EXECUTION_TIME(1000) */ 1 union select 2
SHOW WARNINGS
insert /*+ SET_VAR(sort_buffer_size=100000) */ into v values (8,8)
SHOW WARNINGS
delete /*+ MAX_EXECUTION_TIME(5) */ from v where x=8
SHOW WARNINGS
select /*+ RESOURCE_GROUP(nosuch) */ 1
select /*+ MERGE(d) NO_MERGE(d) */ * from (select x from v) d
SHOW WARNINGS
select /*+ MERGE(t) */ 1 from t limit 1
SHOW WARNINGS
select /*+ NO_MERGE(nosuch) */ 1 from t limit 1
SHOW WARNINGS
select /*+ NO_MERGE(@q d) */ 1 from t limit 1
SHOW WARNINGS
select /*+ INDEX(t ka) */ 1 from t use index (kab) limit 1
SHOW WARNINGS
select /*+ INDEX(t ka, nosuch) */ 1 from t limit 1
SHOW WARNINGS
select /*+ BKA(t) , NO_ICP(t) */ 1 from t limit 1
SHOW WARNINGS
select /*+ BKA(t NO_ICP(t) */ 1 from t limit 1
SHOW WARNINGS
select /*+ BKA(t), */ 1 from t limit 1
SHOW WARNINGS
select /*+ BKA(t) x */ 1 from t limit 1
SHOW WARNINGS
select /*+ */ 1 from t limit 1
SHOW WARNINGS
select /*+ MAX_EXECUTION_TIME(99999999999) */ 1 from t limit 1
SHOW WARNINGS
select /*+ MAX_EXECUTION_TIME(-1) */ 1 from t limit 1
SHOW WARNINGS
select /*+ QB_NAME(`a b`) BKA(@`a b` t) */ 1 from t limit 1
SHOW WARNINGS
select /*+ INDEX(t PRIMARY) */ 1 from t limit 1
SHOW WARNINGS
select /*+ HASH_JOIN(t) NO_HASH_JOIN(t) BNL(t) NO_BNL(t) */ 1 from t limit 1
SHOW WARNINGS
select /*+ JOIN_INDEX(t ka) INDEX(t kab) */ 1 from t limit 1
SHOW WARNINGS
select /*+ GROUP_INDEX(t ka) GROUP_INDEX(t kab) */ 1 from t limit 1
SHOW WARNINGS
select /*+ INDEX(t ka) NO_INDEX(t ka) */ 1 from t limit 1
SHOW WARNINGS
select /*+ INDEX(t ka) NO_ORDER_INDEX(t ka) */ 1 from t limit 1
SHOW WARNINGS
EXPLAIN FORMAT=JSON INTO @p SELECT /*+ NO_INDEX(t) */ * FROM t WHERE a = 3
SELECT JSON_EXTRACT(@p, '$**.operation') AS o
EXPLAIN FORMAT=JSON INTO @p SELECT /*+ NO_INDEX(t ka, kab) */ * FROM t WHERE a = 3
SELECT JSON_EXTRACT(@p, '$**.operation') AS o
EXPLAIN FORMAT=JSON INTO @p SELECT /*+ INDEX(t kab) */ * FROM t WHERE a = 3
SELECT JSON_EXTRACT(@p, '$**.operation') AS o
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM t USE INDEX () WHERE a = 3
SELECT JSON_EXTRACT(@p, '$**.operation') AS o
EXPLAIN FORMAT=JSON INTO @p SELECT /*+ NO_ORDER_INDEX(t kc) */ * FROM t ORDER BY c LIMIT 5
SELECT JSON_EXTRACT(@p, '$**.operation') AS o
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM t IGNORE INDEX FOR ORDER BY (kc) ORDER BY c LIMIT 5
SELECT JSON_EXTRACT(@p, '$**.operation') AS o
EXPLAIN FORMAT=JSON INTO @p SELECT * FROM t FORCE INDEX FOR ORDER BY (kc) ORDER BY c LIMIT 5
SELECT JSON_EXTRACT(@p, '$**.operation') AS o
EXPLAIN FORMAT=JSON INTO @p SELECT /*+ JOIN_PREFIX(u) */ * FROM t JOIN u ON t.id = u.t_id
SELECT JSON_EXTRACT(@p, '$**.table_name') AS t
EXPLAIN FORMAT=JSON INTO @p SELECT /*+ JOIN_FIXED_ORDER() */ * FROM u JOIN t ON u.t_id = t.id
SELECT JSON_EXTRACT(@p, '$**.table_name') AS t
EXPLAIN FORMAT=JSON INTO @p SELECT /*+ JOIN_ORDER(t, u) */ t.id, u.id FROM u JOIN t ON u.t_id = t.id WHERE t.c < 5
SELECT JSON_EXTRACT(@p, '$**.table_name') AS t
EXPLAIN FORMAT=JSON INTO @p SELECT STRAIGHT_JOIN * FROM u JOIN t ON u.t_id = t.id
SELECT JSON_EXTRACT(@p, '$**.table_name') AS t
