SELECT r.id, r.epoch FROM runners r WHERE r.node_id = $1 ORDER BY r.id;
