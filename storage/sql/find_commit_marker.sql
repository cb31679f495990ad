SELECT EXISTS (SELECT FROM commit_markers m WHERE m.batch_id = $1::uuid);
