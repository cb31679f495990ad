-- In ascending id for the whole batch (spec 03 section 13): rows that change and rows that a guard relies on, in one
-- pass, so that no lock has to be made stronger later. Runs that refer to a row do not wait for this.
SELECT a.id FROM agent_sessions a WHERE a.id = ANY ($1::uuid[]) ORDER BY a.id FOR NO KEY UPDATE;
