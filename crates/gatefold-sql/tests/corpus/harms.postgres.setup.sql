CREATE SEQUENCE s;
CREATE MATERIALIZED VIEW m AS SELECT count(*) AS n FROM orders;
CREATE VIEW peek AS SELECT id, token FROM secrets;
CREATE VIEW paid AS SELECT id, name, salary FROM employees;
CREATE TABLE big AS SELECT g AS id, md5(g::text) AS text FROM generate_series(1, 1000) AS g;
CREATE TABLE keyed (id integer PRIMARY KEY, order_id integer);
CREATE FUNCTION harm() RETURNS integer LANGUAGE plpgsql AS
  $$ BEGIN DELETE FROM orders; RETURN 1; END $$;
CREATE FUNCTION harm_as_owner() RETURNS integer LANGUAGE plpgsql SECURITY DEFINER AS
  $$ BEGIN DELETE FROM public.orders; RETURN 1; END $$;
CREATE FUNCTION harm_in_text(text) RETURNS integer LANGUAGE plpgsql AS
  $$ BEGIN EXECUTE $1; RETURN 1; END $$;
CREATE FUNCTION harm_freed() RETURNS integer LANGUAGE plpgsql AS
  $$ BEGIN PERFORM set_config('transaction_read_only', 'off', false); DELETE FROM orders; RETURN 1; END $$;
CREATE FUNCTION harm_step(integer, integer) RETURNS integer LANGUAGE plpgsql AS
  $$ BEGIN DELETE FROM orders; RETURN 1; END $$;
CREATE FUNCTION harm_of(integer) RETURNS integer LANGUAGE plpgsql AS
  $$ BEGIN DELETE FROM orders; RETURN $1; END $$;
CREATE FUNCTION secret_as_owner(integer) RETURNS text LANGUAGE sql SECURITY DEFINER AS
  $$ SELECT token FROM public.peek WHERE id = $1 $$;
CREATE AGGREGATE harm_all (integer) (sfunc = harm_step, stype = integer, initcond = '0');
CREATE OPERATOR !!! (rightarg = integer, function = harm_of);
CREATE TYPE boxed AS (n integer);
CREATE FUNCTION harm_cast(boxed) RETURNS integer LANGUAGE plpgsql AS
  $$ BEGIN DELETE FROM orders; RETURN 1; END $$;
CREATE CAST (boxed AS integer) WITH FUNCTION harm_cast(boxed);
CREATE FUNCTION harm_endless() RETURNS integer LANGUAGE plpgsql AS
  $$ BEGIN LOOP PERFORM 1; END LOOP; END $$;
CREATE PROCEDURE harm_and_commit() LANGUAGE plpgsql AS
  $$ BEGIN DELETE FROM orders; COMMIT; END $$;
CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;
CREATE EXTENSION dblink;
CREATE EXTENSION tablefunc;
CREATE EXTENSION pageinspect;
CREATE EXTENSION lo;
SELECT lo_from_bytea(4711, 'large');
