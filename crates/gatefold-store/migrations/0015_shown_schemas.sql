-- The tools whose schemas an answer had, as a JSON list. NULL if there were none.
ALTER TABLE discoveries ADD COLUMN shown TEXT;
