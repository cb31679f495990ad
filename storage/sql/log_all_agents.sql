SELECT p.id FROM principals p WHERE p.kind = 'agent';
