-- A session is current or has ended, for a reason and not before it began.
SELECT format('session %s of thread %s: is_current is %s, ended_at is %s, end_reason is %s', s.id, s.thread_id,
              s.is_current, coalesce(s.ended_at::text, 'not set'), coalesce(s.end_reason, 'not set'))
FROM agent_sessions s
WHERE s.is_current <> (s.ended_at IS NULL) OR (s.ended_at IS NULL) <> (s.end_reason IS NULL)
   OR (s.ended_at < s.created_at AND s.end_reason <> 'import');
