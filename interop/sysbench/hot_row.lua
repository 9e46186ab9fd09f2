-- One row that every client updates: what early release of row locks is for.
-- sysbench --tables=1 --table-size=1000 hot_row.lua run (after oltp_update_index prepare)
sysbench.cmdline.options = {
   tables = {"Number of tables (the first is used)", 1},
   table_size = {"Rows of it", 1000}
}

function thread_init()
   drv = sysbench.sql.driver()
   con = drv:connect()
   stmt = con:prepare("UPDATE sbtest1 SET k=k+1 WHERE id=1")
end

function event()
   stmt:execute()
end

function thread_done()
   con:disconnect()
end
