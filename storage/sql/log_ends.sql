-- The last `seq` that anybody has drawn from each log, 0 while nobody has.
SELECT CASE WHEN e.is_called THEN e.last_value ELSE 0 END, CASE WHEN a.is_called THEN a.last_value ELSE 0 END
FROM events_seq_seq e CROSS JOIN agent_events_seq_seq a;
