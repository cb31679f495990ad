-- An instance that has principals has one owner, who has a token.
SELECT format('there are %s principals and %s owners of the instance', count(*), count(*) FILTER (WHERE p.instance_owner))
FROM principals p HAVING count(*) > 0 AND count(*) FILTER (WHERE p.instance_owner) <> 1
UNION ALL
SELECT format('the owner of the instance, %s, has never had a token', p.id)
FROM principals p WHERE p.instance_owner AND NOT EXISTS (SELECT 1 FROM tokens t WHERE t.principal_id = p.id);
