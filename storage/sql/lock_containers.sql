-- Containers that this batch decides about: those that it names and those of Runners that enrol. In the order of their
-- names and behind everything that is guarded, so that servers do not wait for each other in a circle.
SELECT c.id FROM containers c
WHERE c.name = ANY ($1::text[] || ARRAY(SELECT o.name FROM containers o WHERE o.runner_id = ANY ($2::uuid[])))
ORDER BY c.name FOR NO KEY UPDATE;
