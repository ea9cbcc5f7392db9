-- transform.sql - answers in pure SQL, without Python: `spark-sql -f transform.sql`. Put the program, the model and the table in.
-- Spark casts every column to a string and sends TSV; a NULL is \N both ways. A dnn that fails fails the query, with the end of
-- its messages. The names of the columns stand twice: in TRANSFORM and in --columns. Spark escapes nothing: a tab or a line end
-- inside a text would be read as another cell or row, so take them out. The task's GPU is not told to the program: it
-- computes on the CPU. --threads: as spark.task.cpus.
ADD FILE /opt/dnn/dnn;
ADD FILE /srv/models/leads.dnn;
SELECT TRANSFORM (lead_id, age, regexp_replace(city, '[\t\r\n]', ' '), visits, signed_on)
    ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' NULL DEFINED AS '\\N'
    USING "./dnn predict leads.dnn - --backend cpu --threads 1 --io tsv --null '\\N' --no-header --columns lead_id,age,city,visits,signed_on -q"
    AS (lead_id STRING, prediction STRING, probability_no DOUBLE, probability_yes DOUBLE)
    ROW FORMAT DELIMITED FIELDS TERMINATED BY '\t' NULL DEFINED AS '\\N'
FROM leads;
