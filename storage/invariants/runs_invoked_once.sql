-- The agent of a run was told of it once when it became queued, and never before.
WITH told AS (
  SELECT e.payload ->> 'run_id' AS id, count(*) AS times, bool_and(e.agent_id = r.agent_id) AS to_its_agent
  FROM agent_events e LEFT JOIN runs r ON r.id::text = e.payload ->> 'run_id'
  WHERE e.type = 'agent.invocation' GROUP BY 1
)
SELECT format('run %s is %s; %s', coalesce(r.id::text, t.id), coalesce(r.state, 'not there'),
              CASE WHEN t.to_its_agent IS FALSE THEN 'another agent than its own was told of it'
                   ELSE format('its agent was told of it %s times', coalesce(t.times, 0)) END)
FROM runs r FULL JOIN told t ON t.id = r.id::text
WHERE coalesce(t.times, 0) <> CASE WHEN r.queued_at IS NULL THEN 0 ELSE 1 END OR t.to_its_agent IS FALSE;
