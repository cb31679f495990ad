-- Accounts, Runners, containers and the sessions of their agents (spec 04). What must never happen is refused here,
-- whoever writes: a relay id, a derived id or a handle that two operations share, two starts in one container, two
-- live bindings of one container, two current attempts.

-- Who a container's agent acts for.
CREATE TABLE accounts (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  -- The account's authorized subscriber.
  actor_id uuid REFERENCES principals (id) ON DELETE RESTRICT,
  created_at timestamptz NOT NULL,
  version bigint NOT NULL DEFAULT 1 CHECK (version >= 1)
);

-- The containers that an actor is shown.
CREATE INDEX accounts_of_actor ON accounts (actor_id);

-- Sealed with the master key; a value in clear is never stored.
CREATE TABLE account_secrets (
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE RESTRICT,
  name text COLLATE "C" NOT NULL,
  sealed bytea NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, name)
);

-- Servers that work on the database. A Runner may name one that is forgotten, so nothing refers here.
CREATE TABLE nodes (
  id uuid PRIMARY KEY,
  address text NOT NULL,
  heartbeat_at timestamptz NOT NULL
);

-- A Runner and its enrolment in force.
CREATE TABLE runners (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  version bigint NOT NULL DEFAULT 1 CHECK (version >= 1),
  enrollment_revision bigint NOT NULL DEFAULT 0 CHECK (enrollment_revision >= 0),
  enrollment_secret bytea CHECK (octet_length(enrollment_secret) = 32),
  journal_id uuid,
  epoch bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0),
  node_id uuid,
  connected_at timestamptz,
  disconnected_at timestamptz
);

-- The Runners whose sockets a server holds.
CREATE INDEX runners_at_node ON runners (node_id) WHERE node_id IS NOT NULL;

CREATE TABLE runner_tokens (
  id uuid PRIMARY KEY,
  runner_id uuid NOT NULL REFERENCES runners (id) ON DELETE RESTRICT,
  label text NOT NULL,
  digest bytea NOT NULL CHECK (octet_length(digest) = 32),
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz
);

CREATE UNIQUE INDEX runner_tokens_digest ON runner_tokens (digest);
CREATE INDEX runner_tokens_of_runner ON runner_tokens (runner_id, id);

CREATE TABLE containers (
  name text COLLATE "C" PRIMARY KEY CHECK (octet_length(name) BETWEEN 1 AND 63),
  id uuid NOT NULL,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE RESTRICT,
  runner_id uuid NOT NULL REFERENCES runners (id) ON DELETE RESTRICT,
  -- The current attempt, as its row says as well.
  attempt_id uuid,
  created_at timestamptz NOT NULL,
  version bigint NOT NULL DEFAULT 1 CHECK (version >= 1)
);

CREATE UNIQUE INDEX containers_id ON containers (id);
CREATE INDEX containers_of_account ON containers (account_id, id);
CREATE INDEX containers_of_runner ON containers (runner_id, name);

-- A container may be removed and made anew under the same name. What happened in it stays, so nothing below refers to
-- `containers`.
CREATE TABLE container_attempts (
  id uuid PRIMARY KEY,
  container_name text COLLATE "C" NOT NULL,
  runner_id uuid NOT NULL REFERENCES runners (id) ON DELETE RESTRICT,
  enrollment_revision bigint NOT NULL CHECK (enrollment_revision >= 0),
  is_current boolean NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE UNIQUE INDEX container_attempts_one_current ON container_attempts (container_name) WHERE is_current;
CREATE INDEX container_attempts_current_of_runner ON container_attempts (runner_id) WHERE is_current;
CREATE INDEX container_attempts_stale ON container_attempts (created_at) WHERE NOT is_current;

CREATE TABLE session_operations (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('fresh', 'resume', 'stop')),
  relay_request_id uuid,
  fresh_session_id text COLLATE "C" CHECK (fresh_session_id ~ '^[0-9a-f]{64}$'),
  resume_session_id text COLLATE "C" CHECK (resume_session_id ~ '^[0-9a-f]{64}$'),
  stop_session_id text COLLATE "C" CHECK (stop_session_id ~ '^[0-9a-f]{64}$'),
  -- SHA-256; the handle itself is never stored.
  handle_digest bytea CHECK (octet_length(handle_digest) = 32),
  -- For correlation only; it selects nothing.
  caller_request_id text,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE RESTRICT,
  actor_id uuid NOT NULL REFERENCES principals (id) ON DELETE RESTRICT,
  runner_id uuid NOT NULL REFERENCES runners (id) ON DELETE RESTRICT,
  container_name text COLLATE "C" NOT NULL,
  container_attempt_id uuid NOT NULL,
  enrollment_revision bigint NOT NULL CHECK (enrollment_revision >= 0),
  journal_id uuid,
  state text NOT NULL CHECK (state IN ('reserved', 'dispatched', 'promoted', 'failed')),
  dispatch bigint NOT NULL DEFAULT 1 CHECK (dispatch >= 1),
  reconciling boolean NOT NULL DEFAULT false,
  failure_class text CHECK (failure_class IN ('retryable', 'terminal')),
  failure_code text,
  session_id text COLLATE "C",
  cleanup text NOT NULL DEFAULT 'none' CHECK (cleanup IN ('none', 'claimed', 'done', 'failed')),
  cleanup_deadline timestamptz,
  created_at timestamptz NOT NULL,
  dispatched_at timestamptz NOT NULL,
  finished_at timestamptz,
  version bigint NOT NULL DEFAULT 1 CHECK (version >= 1),
  CONSTRAINT session_operations_kind_has_its_ids CHECK (
    (relay_request_id IS NOT NULL) = (kind = 'fresh') AND (fresh_session_id IS NOT NULL) = (kind = 'fresh')
    AND (resume_session_id IS NOT NULL) = (kind = 'resume') AND (stop_session_id IS NOT NULL) = (kind = 'stop')
    AND (kind <> 'stop' OR handle_digest IS NULL)
  ),
  CONSTRAINT session_operations_finished_at CHECK ((finished_at IS NOT NULL) = (state IN ('promoted', 'failed'))),
  CONSTRAINT session_operations_failure CHECK (
    (failure_class IS NOT NULL) = (state = 'failed') AND (failure_code IS NOT NULL) = (state = 'failed')
  ),
  -- A promoted start makes the id public that was reserved for it, and no other.
  CONSTRAINT session_operations_result CHECK (
    CASE
      WHEN session_id IS NULL THEN kind = 'stop' OR state <> 'promoted'
      ELSE state = 'promoted' AND session_id = coalesce(fresh_session_id, resume_session_id, stop_session_id)
    END
  ),
  CONSTRAINT session_operations_cleanup CHECK (cleanup <> 'claimed' OR cleanup_deadline IS NOT NULL)
);

CREATE UNIQUE INDEX session_operations_relay ON session_operations (relay_request_id);
CREATE UNIQUE INDEX session_operations_fresh ON session_operations (fresh_session_id);
CREATE UNIQUE INDEX session_operations_handle ON session_operations (handle_digest);
-- One live start in a container, and one stop of a session.
CREATE UNIQUE INDEX session_operations_one_start ON session_operations (container_name, container_attempt_id)
  WHERE kind IN ('fresh', 'resume') AND state IN ('reserved', 'dispatched');
CREATE UNIQUE INDEX session_operations_one_stop ON session_operations (stop_session_id)
  WHERE kind = 'stop' AND state IN ('reserved', 'dispatched');
-- What is open in a container, and whose time has come.
CREATE INDEX session_operations_open ON session_operations (container_name, id)
  WHERE state IN ('reserved', 'dispatched') OR cleanup = 'claimed';
CREATE INDEX session_operations_in_flight ON session_operations (dispatched_at)
  WHERE state IN ('reserved', 'dispatched');
CREATE INDEX session_operations_cleanups ON session_operations (cleanup_deadline) WHERE cleanup = 'claimed';
-- What has outlived its span.
CREATE INDEX session_operations_promoted ON session_operations (finished_at) WHERE state = 'promoted';
CREATE INDEX session_operations_terminal ON session_operations (finished_at) WHERE failure_class = 'terminal';
CREATE INDEX session_operations_retryable ON session_operations (finished_at) WHERE failure_class = 'retryable';
-- Whether anything still refers to an attempt.
CREATE INDEX session_operations_of_attempt ON session_operations (container_attempt_id);

-- What a session id selects.
CREATE TABLE session_bindings (
  session_id text COLLATE "C" PRIMARY KEY CHECK (session_id ~ '^[0-9a-f]{64}$'),
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE RESTRICT,
  actor_id uuid NOT NULL REFERENCES principals (id) ON DELETE RESTRICT,
  runner_id uuid NOT NULL REFERENCES runners (id) ON DELETE RESTRICT,
  container_name text COLLATE "C" NOT NULL,
  container_attempt_id uuid NOT NULL,
  operation_id uuid NOT NULL,
  state text NOT NULL CHECK (state IN ('live', 'suspended', 'released')),
  relayed_through bigint NOT NULL DEFAULT 0 CHECK (relayed_through >= 0),
  transcript_through bigint NOT NULL DEFAULT 0 CHECK (transcript_through >= 0),
  input_through bigint NOT NULL DEFAULT 0 CHECK (input_through >= 0),
  created_at timestamptz NOT NULL,
  released_at timestamptz,
  version bigint NOT NULL DEFAULT 1 CHECK (version >= 1),
  CONSTRAINT session_bindings_released_at CHECK ((released_at IS NOT NULL) = (state = 'released'))
);

CREATE UNIQUE INDEX session_bindings_one_live ON session_bindings (container_name) WHERE state = 'live';
CREATE INDEX session_bindings_live_of_account ON session_bindings (account_id) WHERE state = 'live';
CREATE INDEX session_bindings_live_of_runner ON session_bindings (runner_id) WHERE state = 'live';
CREATE INDEX session_bindings_live_of_operation ON session_bindings (operation_id) WHERE state = 'live';
CREATE INDEX session_bindings_of_attempt ON session_bindings (container_attempt_id);

-- What an agent was told and said. A log: no foreign keys and only the indexes that a named query needs (spec 02
-- invariant 8). Lines are bytes, because an agent may write anything.
CREATE TABLE session_transcripts (
  session_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL CHECK (seq >= 1),
  time timestamptz NOT NULL,
  direction text NOT NULL CHECK (direction IN ('in', 'out')),
  line bytea NOT NULL,
  exit_code bigint,
  PRIMARY KEY (session_id, seq),
  CONSTRAINT session_transcripts_end_has_no_text CHECK (exit_code IS NULL OR octet_length(line) = 0)
);

-- Lines that wait to be given to the agent.
CREATE INDEX session_transcripts_input ON session_transcripts (session_id, seq) WHERE direction = 'in';

CREATE TABLE orphan_diagnostics (
  id uuid PRIMARY KEY,
  reason text NOT NULL,
  operation_id uuid NOT NULL,
  account_id uuid NOT NULL REFERENCES accounts (id) ON DELETE RESTRICT,
  actor_id uuid NOT NULL REFERENCES principals (id) ON DELETE RESTRICT,
  runner_id uuid NOT NULL REFERENCES runners (id) ON DELETE RESTRICT,
  container_name text COLLATE "C" NOT NULL,
  container_attempt_id uuid NOT NULL,
  expected_session_id text,
  -- Diagnostic only: whatever a Runner has sent, so bytes.
  reported_session_id bytea,
  opened_at timestamptz NOT NULL,
  resolved_at timestamptz,
  resolved_by uuid REFERENCES principals (id) ON DELETE RESTRICT,
  version bigint NOT NULL DEFAULT 1 CHECK (version >= 1),
  CONSTRAINT orphan_diagnostics_resolved CHECK (resolved_by IS NULL OR resolved_at IS NOT NULL)
);

CREATE INDEX orphan_diagnostics_open ON orphan_diagnostics (container_name, id) WHERE resolved_at IS NULL;
CREATE INDEX orphan_diagnostics_open_of_operation ON orphan_diagnostics (operation_id) WHERE resolved_at IS NULL;
CREATE INDEX orphan_diagnostics_resolved_at ON orphan_diagnostics (resolved_at) WHERE resolved_at IS NOT NULL;
CREATE INDEX orphan_diagnostics_of_attempt ON orphan_diagnostics (container_attempt_id);
