-- Who there is and where conversations live: principals, tokens, spaces, channels, threads and grants (spec 05).
-- All ids are UUIDv7 made by the server, so an index on an id is an index on time as well.

-- What a grant allows. An enumeration, because its order is the order of the levels: the highest grant counts.
CREATE TYPE grant_level AS ENUM ('read', 'write', 'trigger', 'manage');

CREATE TABLE principals (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('human', 'agent', 'app')),
  name text NOT NULL,
  instance_owner boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  version bigint NOT NULL DEFAULT 1 CHECK (version >= 1),
  -- What makes an agent; null for everybody else.
  tool_class text CHECK (tool_class IN ('container', 'host')),
  billing_mode text CHECK (billing_mode IN ('shared', 'personal')),
  holder_id uuid REFERENCES principals (id) ON DELETE RESTRICT,
  enabled boolean,
  reachable boolean,
  default_model text,
  CONSTRAINT principals_agent_columns CHECK (
    num_nonnulls(tool_class, billing_mode, enabled, reachable) = CASE WHEN kind = 'agent' THEN 4 ELSE 0 END
  ),
  CONSTRAINT principals_only_agents_are_held CHECK (
    kind = 'agent' OR (holder_id IS NULL AND default_model IS NULL)
  ),
  CONSTRAINT principals_owner_is_human CHECK (kind = 'human' OR NOT instance_owner)
);

-- An instance has one owner: however many servers bootstrap at once, only one row fits.
CREATE UNIQUE INDEX principals_one_instance_owner ON principals (instance_owner) WHERE instance_owner;

-- Tokens are kept as SHA-256 digests; the secret itself is never stored (spec 06 section 3).
CREATE TABLE tokens (
  id uuid PRIMARY KEY,
  principal_id uuid NOT NULL REFERENCES principals (id) ON DELETE RESTRICT,
  label text NOT NULL,
  digest bytea NOT NULL CHECK (octet_length(digest) = 32),
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz
);

CREATE UNIQUE INDEX tokens_digest ON tokens (digest);
-- The list of a principal's tokens.
CREATE INDEX tokens_of_principal ON tokens (principal_id, id);

CREATE TABLE spaces (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  owner_id uuid NOT NULL REFERENCES principals (id) ON DELETE RESTRICT,
  created_at timestamptz NOT NULL,
  version bigint NOT NULL DEFAULT 1 CHECK (version >= 1),
  -- Raised by every change that rights in the space depend on, so that one guard covers all of them.
  facts_version bigint NOT NULL DEFAULT 1 CHECK (facts_version >= 1)
);

CREATE TABLE channels (
  id uuid PRIMARY KEY,
  space_id uuid NOT NULL REFERENCES spaces (id) ON DELETE RESTRICT,
  name text NOT NULL,
  mode text NOT NULL CHECK (mode IN ('open', 'read_only', 'archived')),
  operator_agent_id uuid REFERENCES principals (id) ON DELETE RESTRICT,
  main_thread_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  version bigint NOT NULL DEFAULT 1 CHECK (version >= 1)
);

CREATE INDEX channels_of_space ON channels (space_id, id);

CREATE TABLE threads (
  id uuid PRIMARY KEY,
  space_id uuid NOT NULL REFERENCES spaces (id) ON DELETE RESTRICT,
  channel_id uuid NOT NULL REFERENCES channels (id) ON DELETE RESTRICT,
  kind text NOT NULL CHECK (kind IN ('main', 'thread')),
  title text NOT NULL,
  state text NOT NULL CHECK (state IN ('open', 'closed')),
  operator_agent_id uuid REFERENCES principals (id) ON DELETE RESTRICT,
  created_at timestamptz NOT NULL,
  version bigint NOT NULL DEFAULT 1 CHECK (version >= 1)
);

CREATE INDEX threads_of_channel ON threads (channel_id, id);
CREATE UNIQUE INDEX threads_one_main ON threads (channel_id) WHERE kind = 'main';

-- A channel and its main thread name each other, so one of the two keys has to wait for the end of the transaction.
ALTER TABLE channels ADD CONSTRAINT channels_main_thread FOREIGN KEY (main_thread_id)
  REFERENCES threads (id) ON DELETE RESTRICT DEFERRABLE INITIALLY DEFERRED;

-- `resource_id` is a space, a channel or a thread, as `scope` says; ids are unique over all of them.
CREATE TABLE grants (
  resource_id uuid NOT NULL,
  principal_id uuid NOT NULL REFERENCES principals (id) ON DELETE RESTRICT,
  scope text NOT NULL CHECK (scope IN ('space', 'channel', 'thread')),
  space_id uuid NOT NULL REFERENCES spaces (id) ON DELETE RESTRICT,
  level grant_level NOT NULL,
  PRIMARY KEY (resource_id, principal_id),
  CONSTRAINT grants_space_is_its_own CHECK (scope <> 'space' OR resource_id = space_id)
);

-- Everything that a principal holds, for GET /v1/me and the list of spaces.
CREATE INDEX grants_of_principal ON grants (principal_id, resource_id);
