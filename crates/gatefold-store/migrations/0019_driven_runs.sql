-- Who drives a run, and what it waits for.

-- The store by which a process drives it. Null while nobody does.
ALTER TABLE runs ADD COLUMN driver INTEGER;

-- How many processes have died that drove it.
ALTER TABLE runs ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;

-- 1 if any gateway takes it up by itself.
ALTER TABLE runs ADD COLUMN lasts INTEGER NOT NULL DEFAULT 0;

-- The approvals that it waits for, as a JSON array of their ids.
ALTER TABLE runs ADD COLUMN waiting TEXT;

-- When somebody asked for its end.
ALTER TABLE runs ADD COLUMN cancelled_at INTEGER;

-- What a run took is looked up when it goes on.
CREATE INDEX model_uses_by_run ON model_uses (run) WHERE run IS NOT NULL;
