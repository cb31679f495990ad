-- Spaces that this batch changes: locked for that before the guards lock them shared, else two servers that
-- change the same space would deadlock.
SELECT s.id FROM spaces s WHERE s.id = ANY ($1::uuid[]) ORDER BY s.id FOR NO KEY UPDATE;
