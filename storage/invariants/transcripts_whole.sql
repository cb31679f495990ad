-- A transcript has every line up to the last, once, and its binding knows how far it goes.
WITH lines AS (
  SELECT t.session_id, count(*) AS number, max(t.seq) AS last, count(*) FILTER (WHERE t.direction = 'in') AS input
  FROM session_transcripts t GROUP BY 1
)
SELECT format('session %s goes to line %s, its binding says %s, and %s lines are there', coalesce(b.session_id, l.session_id),
              coalesce(l.last, 0), coalesce(b.transcript_through::text, 'nothing'), coalesce(l.number, 0))
FROM session_bindings b FULL JOIN lines l ON l.session_id = b.session_id
WHERE b.session_id IS NULL OR coalesce(l.last, 0) <> b.transcript_through OR coalesce(l.number, 0) <> b.transcript_through
   OR b.relayed_through > b.transcript_through OR b.input_through > b.transcript_through;
