-- A container has at most one live binding.
SELECT format('container %s has %s live bindings: %s', b.container_name, count(*),
              string_agg(b.session_id, ', ' ORDER BY b.session_id))
FROM session_bindings b WHERE b.state = 'live' GROUP BY b.container_name HAVING count(*) > 1;
