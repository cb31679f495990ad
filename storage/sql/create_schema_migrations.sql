CREATE TABLE IF NOT EXISTS schema_migrations (
  version bigint PRIMARY KEY,
  name text NOT NULL,
  checksum bytea NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);
