-- Agent sessions, and the runs and messages around them. What must never be is refused here, whoever writes
-- (spec 03 section 1).

CREATE TABLE agent_sessions (
  id uuid PRIMARY KEY,
  thread_id uuid NOT NULL REFERENCES threads (id) ON DELETE RESTRICT,
  agent_id uuid NOT NULL REFERENCES principals (id) ON DELETE RESTRICT,
  -- Bytes of the agent's runtime that nobody here interprets, hence compared as bytes. The bound keeps an entry of
  -- each index below inside the limit of a B-tree, 2704 bytes.
  external_session_ref text COLLATE "C" NOT NULL CHECK (octet_length(external_session_ref) BETWEEN 1 AND 2600),
  is_current boolean NOT NULL,
  started boolean NOT NULL,
  model text,
  cost_baseline_micros bigint NOT NULL DEFAULT 0 CHECK (cost_baseline_micros >= 0),
  cumulative_cost_micros bigint NOT NULL DEFAULT 0 CHECK (cumulative_cost_micros >= 0),
  cost_is_estimate boolean NOT NULL DEFAULT false,
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  -- Has no table to refer to yet, so it has no value yet either.
  dev_environment_id uuid CHECK (dev_environment_id IS NULL),
  created_at timestamptz NOT NULL,
  ended_at timestamptz,
  end_reason text CONSTRAINT agent_sessions_end_reason
    CHECK (end_reason IN ('reset', 'rebind', 'import', 'agent_changed')),
  version bigint NOT NULL DEFAULT 1 CHECK (version >= 1),
  CONSTRAINT agent_sessions_is_current CHECK (is_current = (ended_at IS NULL)),
  CONSTRAINT agent_sessions_ended_for_a_reason CHECK ((ended_at IS NULL) = (end_reason IS NULL))
);

CREATE UNIQUE INDEX agent_sessions_one_current ON agent_sessions (thread_id) WHERE is_current;
CREATE UNIQUE INDEX agent_sessions_reference_current ON agent_sessions (agent_id, external_session_ref)
  WHERE is_current;
-- The history of a thread, newest first.
CREATE INDEX agent_sessions_history ON agent_sessions (thread_id, created_at DESC, id DESC);
-- The newest row of a reference, for cost baselines and for the right to open a conversation.
CREATE INDEX agent_sessions_reference_newest
  ON agent_sessions (agent_id, external_session_ref, created_at DESC, id DESC);
-- An import that is repeated writes nothing (spec 03 section 12).
CREATE UNIQUE INDEX agent_sessions_import ON agent_sessions (thread_id, agent_id, external_session_ref, created_at)
  WHERE end_reason = 'import';

-- Two rules compare a row with what it was or must start as; a CHECK cannot. The conditions stand at the triggers, so
-- the function runs only to refuse.
CREATE FUNCTION agent_sessions_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'agent_sessions: %', TG_ARGV[0]
    USING ERRCODE = 'check_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
END $$;

CREATE TRIGGER agent_sessions_end_raises_version BEFORE UPDATE ON agent_sessions FOR EACH ROW
  WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL AND NEW.version <= OLD.version)
  EXECUTE FUNCTION agent_sessions_refuse('a row that ends raises its version');

CREATE TRIGGER agent_sessions_new_without_cost BEFORE INSERT ON agent_sessions FOR EACH ROW
  WHEN (NEW.cumulative_cost_micros <> 0)
  EXECUTE FUNCTION agent_sessions_refuse('a new row has cumulative cost 0');

CREATE TABLE messages (
  id uuid PRIMARY KEY,
  thread_id uuid NOT NULL REFERENCES threads (id) ON DELETE RESTRICT,
  author_id uuid NOT NULL REFERENCES principals (id) ON DELETE RESTRICT,
  kind text NOT NULL CHECK (kind IN ('message', 'system')),
  origin text NOT NULL CHECK (origin IN ('human', 'agent', 'system')),
  content_md text NOT NULL,
  system_code text CONSTRAINT messages_system_code
    CHECK (system_code IN ('thread.reopened', 'agent_session.resume_failed')),
  run_id uuid,
  created_at timestamptz NOT NULL,
  CONSTRAINT messages_system_line CHECK (
    CASE WHEN kind = 'system'
      THEN origin = 'system' AND content_md = '' AND system_code IS NOT NULL
      ELSE origin <> 'system' AND system_code IS NULL
    END
  )
);

CREATE INDEX messages_of_thread ON messages (thread_id, id);

CREATE TABLE runs (
  id uuid PRIMARY KEY,
  thread_id uuid NOT NULL REFERENCES threads (id) ON DELETE RESTRICT,
  agent_id uuid NOT NULL REFERENCES principals (id) ON DELETE RESTRICT,
  kind text NOT NULL CHECK (kind IN ('operator', 'guest')),
  state text NOT NULL
    CHECK (state IN ('held', 'queued', 'running', 'waiting_input', 'succeeded', 'failed', 'cancelled')),
  triggered_by uuid NOT NULL REFERENCES principals (id) ON DELETE RESTRICT,
  message_id uuid NOT NULL REFERENCES messages (id) ON DELETE RESTRICT,
  agent_session_id uuid REFERENCES agent_sessions (id) ON DELETE SET NULL,
  failure_code text,
  failure_detail text,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  finished_at timestamptz,
  lease_expires_at timestamptz,
  version bigint NOT NULL DEFAULT 1 CHECK (version >= 1)
);

CREATE UNIQUE INDEX runs_one_active ON runs (thread_id) WHERE state IN ('queued', 'running', 'waiting_input');
CREATE INDEX runs_of_thread ON runs (thread_id, id);
-- Whether a run has used a session, and the rows to clear should a session ever be deleted.
CREATE INDEX runs_of_session ON runs (agent_session_id) WHERE agent_session_id IS NOT NULL;

ALTER TABLE messages ADD CONSTRAINT messages_run FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE SET NULL;
