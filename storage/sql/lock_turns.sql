-- Threads whose runs this batch changes, in ascending id and before everything else that is guarded or locked of them.
SELECT t.id FROM threads t WHERE t.id = ANY ($1::uuid[]) ORDER BY t.id FOR NO KEY UPDATE;
