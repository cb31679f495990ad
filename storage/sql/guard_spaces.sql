-- Held until the commit: a right that is taken away meanwhile waits for us, and so comes after us.
SELECT s.id, s.version, s.facts_version FROM spaces s WHERE s.id = ANY ($1::uuid[]) ORDER BY s.id FOR SHARE;
