INSERT INTO commit_markers (batch_id) VALUES ($1::uuid);
