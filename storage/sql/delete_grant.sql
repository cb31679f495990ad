DELETE FROM grants WHERE resource_id = $1 AND principal_id = $2;
