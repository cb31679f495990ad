-- A run answers a message of its own thread, by who triggered it, and its lines stand in its thread.
SELECT format('run %s of thread %s belongs to message %s, which is of thread %s and author %s', r.id, r.thread_id, m.id,
              m.thread_id, m.author_id)
FROM runs r JOIN messages m ON m.id = r.message_id
WHERE m.thread_id <> r.thread_id OR m.author_id <> r.triggered_by OR m.kind <> 'message'
UNION ALL
SELECT format('message %s of thread %s is of run %s, which is of thread %s', m.id, m.thread_id, r.id, r.thread_id)
FROM messages m JOIN runs r ON r.id = m.run_id WHERE m.thread_id <> r.thread_id;
