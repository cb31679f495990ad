-- What is appended with every decision. No foreign keys and only the indexes that a named query needs: on these
-- tables each costs a tenth of the throughput or more (spec 02 invariant 8, spec 06 section 1).

-- The envelope of spec 03 section 11. A transaction has its id before it draws a `seq`, so a reader who saw all
-- transactions below a snapshot finish has seen every event below the `seq` that was the last one then.
CREATE TABLE events (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id uuid NOT NULL,
  type text NOT NULL,
  time timestamptz NOT NULL,
  space_id uuid NOT NULL,
  channel_id uuid,
  thread_id uuid,
  resource_kind text NOT NULL,
  resource_id uuid NOT NULL,
  resource_version bigint,
  actor_kind text NOT NULL,
  actor_id uuid NOT NULL,
  payload json NOT NULL
);

CREATE TABLE audit_log (
  id uuid PRIMARY KEY,
  time timestamptz NOT NULL,
  actor_id uuid NOT NULL,
  action text NOT NULL,
  allowed boolean NOT NULL,
  resource_kind text NOT NULL,
  resource_id uuid NOT NULL,
  reason text NOT NULL,
  count bigint NOT NULL DEFAULT 1 CHECK (count >= 1),
  details json NOT NULL,
  -- A digest of actor, action, resource, reason and time window: equal denials raise `count` of one entry.
  deny_key bytea
);

CREATE UNIQUE INDEX audit_log_deny_key ON audit_log (deny_key) WHERE deny_key IS NOT NULL;

-- Stored answers, written in the transaction of their effect (spec 05). The body is text and not json, because a
-- replay has to give back the same bytes.
CREATE TABLE idempotency_records (
  principal_id uuid NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  status integer NOT NULL,
  body text NOT NULL,
  etag bigint,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (principal_id, key)
);

CREATE INDEX idempotency_records_expiry ON idempotency_records (expires_at);

-- One row a transaction of the writer. A transaction id may be given out again after a crash that lost the end of the
-- log; a marker that is visible cannot lie. The ids are UUIDv7, so old markers are a range of the primary key.
CREATE TABLE commit_markers (
  batch_id uuid PRIMARY KEY,
  committed_at timestamptz NOT NULL DEFAULT now()
);
