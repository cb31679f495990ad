-- A container has at most one current attempt.
SELECT format('container %s has %s current attempts: %s', a.container_name, count(*),
              string_agg(a.id::text, ', ' ORDER BY a.id))
FROM container_attempts a WHERE a.is_current GROUP BY a.container_name HAVING count(*) > 1;
