-- Runs as they are worked on, and what their agents are told. Nothing has written a run before this migration.

-- Raised by every decision about runs of the thread: they come one after the other, on whatever server.
ALTER TABLE threads ADD COLUMN runs_version bigint NOT NULL DEFAULT 1 CHECK (runs_version >= 1);

ALTER TABLE runs
  ADD COLUMN queued_at timestamptz,
  -- An agent may report a failed binding once a run (spec 03 section 8).
  ADD COLUMN bind_failed boolean NOT NULL DEFAULT false,
  -- A run that was ended while it was held has never been queued.
  ADD CONSTRAINT runs_queued_at CHECK (
    CASE
      WHEN state = 'held' THEN queued_at IS NULL
      WHEN state IN ('failed', 'cancelled') THEN true
      ELSE queued_at IS NOT NULL
    END
  ),
  ADD CONSTRAINT runs_lease CHECK ((lease_expires_at IS NOT NULL) = (state IN ('running', 'waiting_input'))),
  ADD CONSTRAINT runs_failure CHECK (
    (failure_code IS NOT NULL) = (state = 'failed') AND (failure_detail IS NULL OR failure_code IS NOT NULL)
  ),
  ADD CONSTRAINT runs_finished_at CHECK ((finished_at IS NOT NULL) = (state IN ('succeeded', 'failed', 'cancelled')));

-- The runs whose time may be over, each kind by the moment that decides.
CREATE INDEX runs_leases ON runs (lease_expires_at) WHERE state IN ('running', 'waiting_input');
CREATE INDEX runs_waiting_for_an_agent ON runs (queued_at) WHERE state = 'queued';
-- What is released next.
CREATE INDEX runs_held ON runs (thread_id, id) WHERE state = 'held';

-- What an agent's adapter polls (spec 03 section 10). `seq` is read as that of `events` is.
CREATE TABLE agent_events (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  agent_id uuid NOT NULL,
  type text NOT NULL,
  time timestamptz NOT NULL,
  payload json NOT NULL
);

CREATE INDEX agent_events_of_agent ON agent_events (agent_id, seq);

-- The spaces whose events a principal sees because they are his own.
CREATE INDEX spaces_of_owner ON spaces (owner_id);
