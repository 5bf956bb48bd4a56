-- When a check last failed to reach a source that had been reached before, in milliseconds since 1970;
-- null when the last check reached it.
ALTER TABLE sources ADD COLUMN failed_at INTEGER;
