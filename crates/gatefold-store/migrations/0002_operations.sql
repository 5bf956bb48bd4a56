-- What was asked for: `tool`, `prompt`, `resource`, `completion` and so on. Before there was a choice,
-- it was always a tool.
ALTER TABLE calls ADD COLUMN operation TEXT NOT NULL DEFAULT 'tool';
