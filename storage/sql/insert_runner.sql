INSERT INTO runners (id, name, created_at, version, enrollment_revision, enrollment_secret, journal_id, epoch,
                     node_id, connected_at, disconnected_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT DO NOTHING;
