-- The logs are numbered once each and upwards: no number is behind the counter, no event is there twice.
SELECT format('event %s is there twice, as %s', e.id, string_agg(e.seq::text, ', ' ORDER BY e.seq))
FROM events e GROUP BY e.id HAVING count(*) > 1
UNION ALL
SELECT format('the counter of events is at %s, the last event has %s', c.last_value, l.seq)
FROM events_seq_seq c, (SELECT max(seq) AS seq FROM events) l WHERE l.seq > c.last_value
UNION ALL
SELECT format('the counter of agents'' events is at %s, the last one has %s', c.last_value, l.seq)
FROM agent_events_seq_seq c, (SELECT max(seq) AS seq FROM agent_events) l WHERE l.seq > c.last_value
UNION ALL
SELECT format('event %s stands there %s times', e.seq, count(*)) FROM events e GROUP BY e.seq HAVING count(*) > 1;
