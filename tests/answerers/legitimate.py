"""Statements that people and models write in good faith: they must pass, and run."""

from __future__ import annotations

BOTH = """
SELECT * FROM sales
SELECT COUNT(*) FROM sales
SELECT COUNT(*) AS n FROM customers WHERE segment = 'Retail'
SELECT DISTINCT segment FROM customers ORDER BY segment
SELECT region_name FROM regions ORDER BY region_name DESC LIMIT 2
SELECT r.region_name, SUM(s.amount) AS total_sales FROM sales s JOIN regions r ON s.region_id = r.region_id
  GROUP BY r.region_name
SELECT r.region_name, SUM(s.amount) FROM sales AS s INNER JOIN regions AS r ON r.region_id = s.region_id GROUP
  BY 1 ORDER BY 2 DESC
SELECT r.region_name, SUM(s.amount) AS t FROM sales s JOIN regions r USING (region_id) GROUP BY r.region_name
  HAVING SUM(s.amount) > 1000
SELECT SUM(s.amount) AS t FROM sales s JOIN regions r ON s.region_id = r.region_id WHERE YEAR(s.sale_date) =
  2024 GROUP BY r.region_name
SELECT MONTH(sale_date) AS m, SUM(amount) AS t FROM sales WHERE YEAR(sale_date) = 2023 GROUP BY
  MONTH(sale_date) ORDER BY m
SELECT c.customer_name, COUNT(s.sale_id) AS n FROM customers c LEFT JOIN sales s ON s.customer_id =
  c.customer_id GROUP BY c.customer_name
SELECT p.category, AVG(s.amount) AS average_amount, MIN(s.amount), MAX(s.amount) FROM sales s JOIN products p
  ON p.product_id = s.product_id GROUP BY p.category
SELECT p.product_name FROM products p WHERE p.list_price > (SELECT AVG(list_price) FROM products)
SELECT customer_name FROM customers WHERE customer_id IN (SELECT customer_id FROM sales WHERE amount > 60000)
SELECT customer_name FROM customers c WHERE EXISTS (SELECT 1 FROM sales s WHERE s.customer_id = c.customer_id
  AND s.amount > 50000)
SELECT customer_name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM sales s WHERE s.customer_id =
  c.customer_id AND s.quantity > 9000)
WITH totals AS (SELECT region_id, SUM(amount) AS total FROM sales GROUP BY region_id) SELECT r.region_name,
  t.total FROM totals t JOIN regions r ON r.region_id = t.region_id
WITH a AS (SELECT * FROM sales WHERE amount > 10), b AS (SELECT region_id, COUNT(*) AS n FROM a GROUP BY
  region_id) SELECT * FROM b ORDER BY n
SELECT region_id, amount, RANK() OVER (PARTITION BY region_id ORDER BY amount DESC) AS place FROM sales
SELECT sale_id, SUM(amount) OVER (ORDER BY sale_id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS moving FROM sales
SELECT sale_id, LAG(amount) OVER (ORDER BY sale_date) AS before FROM sales
SELECT ROW_NUMBER() OVER (ORDER BY amount DESC) AS n, amount FROM sales LIMIT 10
SELECT CASE WHEN amount > 30000 THEN 'large' WHEN amount > 10000 THEN 'medium' ELSE 'small' END AS size,
  COUNT(*) FROM sales GROUP BY 1
SELECT COALESCE(segment, 'none') AS s, COUNT(*) FROM customers GROUP BY COALESCE(segment, 'none')
SELECT UPPER(region_name), LOWER(country), LENGTH(region_name) FROM regions
SELECT SUBSTR(region_name, 1, 2) AS short FROM regions
SELECT TRIM(region_name) || ' / ' || country AS named FROM regions
SELECT REPLACE(region_name, 'th', '') FROM regions
SELECT REPLACE(region_name, 'North', 'N') || ' / ' || UPPER(region_name) FROM regions
SELECT ROUND(AVG(amount), 2) AS a FROM sales
SELECT ABS(amount - 100) FROM sales LIMIT 3
SELECT SUM(amount) * 1.0 / COUNT(*) AS a FROM sales
SELECT SUM(amount) / NULLIF(SUM(quantity), 0) AS price FROM sales
SELECT CAST(SUM(amount) AS DECIMAL(12, 2)) AS total FROM sales
SELECT CAST(amount AS INTEGER) FROM sales LIMIT 1
SELECT amount FROM sales WHERE sale_date >= '2024-01-01' AND sale_date < '2025-01-01'
SELECT amount FROM sales WHERE sale_date BETWEEN '2024-03-01' AND '2024-03-31'
SELECT amount FROM sales WHERE amount BETWEEN 10 AND 20 OR amount IS NULL
SELECT region_name FROM regions WHERE region_name LIKE 'N%' OR region_name IN ('South', 'East')
SELECT region_name FROM regions WHERE NOT region_name = 'North'
SELECT region_name FROM regions WHERE region_name <> 'O''Brien'
SELECT region_name FROM regions WHERE region_name = 'Robert''); DROP TABLE sales; --'
SELECT region_name AS "the region" FROM regions
SELECT "region_name" FROM "regions"
SELECT s.* FROM sales AS s LIMIT 5
SELECT s.*, r.region_name FROM sales AS s, regions AS r WHERE s.region_id = r.region_id
SELECT a.region_name, b.region_name AS other FROM regions a JOIN regions b ON a.region_id < b.region_id
SELECT amount FROM sales UNION ALL SELECT list_price FROM products
SELECT region_name FROM regions UNION SELECT segment FROM customers ORDER BY 1
SELECT region_id FROM regions EXCEPT SELECT region_id FROM customers
SELECT region_id FROM regions INTERSECT SELECT region_id FROM customers
SELECT x.n FROM (SELECT COUNT(*) AS n FROM sales) AS x
SELECT t.amount, t.region_name FROM (SELECT * FROM sales s JOIN regions r ON r.region_id = s.region_id) AS t
SELECT t.amount FROM (SELECT s.* FROM sales AS s) AS t ORDER BY t.amount
SELECT t.amount FROM ((SELECT amount FROM sales)) AS t LIMIT 3
SELECT x.amount, r.region_name FROM ((SELECT amount, region_id FROM sales) AS x JOIN regions r
  ON r.region_id = x.region_id) LIMIT 3
WITH a AS (SELECT * FROM sales), b AS (SELECT a.*, a.amount * 2 AS twice FROM a) SELECT b.twice, b.sale_date FROM b
WITH a AS (SELECT amount FROM sales UNION ALL SELECT list_price FROM products) SELECT SUM(a.amount) AS total FROM a
SELECT r.region_name, (SELECT MAX(s.amount) FROM sales s WHERE s.region_id = r.region_id) AS best FROM regions r
SELECT s.amount FROM sales s UNION SELECT s.list_price FROM products s
SELECT AVG(x.total) FROM (SELECT SUM(amount) AS total FROM sales GROUP BY region_id) AS x
SELECT region_id, COUNT(DISTINCT customer_id) AS customers FROM sales GROUP BY region_id
SELECT COUNT(*) FILTER (WHERE amount > 30000) AS large FROM sales
SELECT (SELECT COUNT(*) FROM sales) AS sales, (SELECT COUNT(*) FROM regions) AS regions
SELECT amount FROM sales ORDER BY amount DESC, sale_id LIMIT 10 OFFSET 20
SELECT MAX(sale_date) AS latest FROM sales
SELECT (region_id + 1) / 2 AS half, COUNT(*) FROM regions GROUP BY (region_id + 1) / 2 ORDER BY (region_id + 1) / 2
SELECT 1
SELECT 1;
SELECT 1 AS one -- a remark
SELECT /* why not */ region_name FROM regions
select region_name from REGIONS where REGION_ID = 1
SELECT region_name FROM regions WHERE region_name = '销售'
SELECT amount % 7 AS rest, -amount AS minus FROM sales LIMIT 2
SELECT SQRT(amount), FLOOR(amount), POWER(quantity, 2) FROM sales LIMIT 2
"""
SQLITE = """
SELECT STRFTIME('%Y', sale_date) AS y, SUM(amount) FROM sales GROUP BY STRFTIME('%Y', sale_date)
SELECT STRFTIME('%Y-%m', sale_date) AS m, SUM(amount) FROM sales GROUP BY 1 ORDER BY 1
SELECT DATE(sale_date, 'start of month') AS m, SUM(amount) FROM sales GROUP BY 1
SELECT IFNULL(segment, 'none'), IIF(region_id = 1, 'home', 'away') FROM customers
SELECT GROUP_CONCAT(region_name, ', ') AS names FROM regions
SELECT JULIANDAY('2024-12-31') - JULIANDAY(sale_date) AS days FROM sales LIMIT 3
SELECT region_name FROM regions WHERE region_name GLOB 'N*'
SELECT region_name FROM main.regions
"""
POSTGRES = """
SELECT EXTRACT(YEAR FROM sale_date) AS y, SUM(amount) FROM sales GROUP BY 1
SELECT DATE_TRUNC('month', sale_date) AS m, SUM(amount) FROM sales GROUP BY 1 ORDER BY 1
SELECT TO_CHAR(sale_date, 'YYYY-MM') AS m, COUNT(*) FROM sales GROUP BY 1
SELECT amount::numeric(12, 2) FROM sales
SELECT region_name FROM regions WHERE region_name ILIKE 'n%'
SELECT STRING_AGG(region_name, ', ' ORDER BY region_name) AS names FROM regions
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY amount) AS median FROM sales
SELECT amount FROM sales WHERE sale_date >= DATE '2024-01-01'
SELECT amount FROM sales WHERE sale_date > NOW() - INTERVAL '30 days'
SELECT region_id, SUM(amount) FROM sales GROUP BY ROLLUP (region_id)
SELECT region_name FROM public.regions
SELECT amount FROM sales ORDER BY amount DESC NULLS LAST FETCH FIRST 5 ROWS ONLY
SELECT STDDEV(amount), VARIANCE(amount) FROM sales
SELECT region_name FROM regions WHERE region_name ~ '^N'
"""


def legitimate(dialect: str) -> list[str]:
    return statements(BOTH) + statements(SQLITE if dialect == "sqlite" else POSTGRES)


def statements(text: str) -> list[str]:
    """One a line; a line that starts with a blank goes on with the one before."""
    found: list[str] = []
    for line in text.strip("\n").split("\n"):
        if line.startswith(" ") and found:
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return found
