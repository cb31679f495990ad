// The check of answers must find mistakes: every kind of them is made here once, and has to be complained about.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { Contract } from './contract.mjs';
import { Verdict, exchangesIn } from './validate.mjs';

const contract = new Contract(readFileSync(new URL('../../docs/openapi.yaml', import.meta.url), 'utf8'));

const id = '0196f0aa-3c5e-7a40-8d63-2f0f4a1c9e11';
const time = '2026-01-31T12:00:00.000000Z';

const session = {
  id,
  thread_id: id,
  agent_id: id,
  external_session_ref: 'example-session-7',
  is_current: true,
  started: true,
  cost: { amount_micros: 0, currency: 'EUR', is_estimate: false },
  created_at: time,
  version: 3,
};
const run = {
  id,
  thread_id: id,
  agent_id: id,
  kind: 'operator',
  state: 'queued',
  triggered_by: id,
  message_id: id,
  created_at: time,
  version: 1,
};
const message = {
  id,
  thread_id: id,
  author_id: id,
  kind: 'message',
  origin: 'human',
  content_md: 'The printer is out of paper.',
  created_at: time,
};
const space = { id, name: 'Example', owner_id: id, created_at: time, version: 1 };
const spaceChanged = {
  seq: 7,
  id,
  type: 'space.changed',
  time,
  scope: { space_id: id },
  resource: { kind: 'space', id, version: 1 },
  actor: { kind: 'human', id },
  payload: { space },
};
const sessionChanged = {
  ...spaceChanged,
  type: 'agent_session.changed',
  scope: { space_id: id, channel_id: id, thread_id: id },
  resource: { kind: 'thread', id },
  payload: { thread_id: id, agent_session: session },
};
const invocation = {
  seq: 4,
  type: 'agent.invocation',
  time,
  payload: {
    run_id: id,
    thread_id: id,
    agent_id: id,
    kind: 'operator',
    triggered_by: id,
    message,
    session_mode: 'resume',
    agent_session: session,
  },
};
const notFound = {
  type: 'urn:cleat:problem:not_found',
  title: 'Not found',
  status: 404,
  detail: 'There is no such resource, or it is not yours to see.',
  code: 'not_found',
};

function answer(method, path, status, body, more = {}) {
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  return {
    test: 'Suite.Test',
    method,
    path,
    status,
    body: body === undefined ? '' : JSON.stringify(body),
    ...more,
    headers: { 'x-request-id': 'r-1', ...(body === undefined ? {} : { 'content-type': type }), ...more.headers },
  };
}

const bound = (body, more = {}) =>
  answer('POST', `/v1/threads/${id}/agent-sessions/bind`, 201, body, {
    request: '{"external_session_ref":"example-session-7"}',
    ...more,
    headers: { etag: '"3"', ...more.headers },
  });
const gotRun = (changes) =>
  answer('GET', `/v1/runs/${id}`, 200, { ...run, ...changes }, { headers: { etag: '"1"' } });
const messages = (changes) => answer('GET', `/v1/threads/${id}/messages`, 200, { items: [{ ...message, ...changes }] });
const page = (...items) => answer('GET', '/v1/events?after=3', 200, { items, next_after: 9 });
const polled = (changes) =>
  answer('GET', '/v1/agent/events?after=3&wait_s=0', 200, {
    items: [{ ...invocation, payload: { ...invocation.payload, ...changes } }],
    next_after: 4,
  });
const streamed = (text) => ({
  ...answer('GET', '/v1/events', 200),
  headers: { 'x-request-id': 'r-1', 'content-type': 'text/event-stream' },
  body: text,
});
const line = { seq: 3, time, direction: 'out', line: 'Three things.' };
const transcript = (name, ...lines) => ({
  ...answer('GET', `/v1/agent-sessions/${'a'.repeat(64)}/transcript`, 200),
  headers: { 'x-request-id': 'r-1', 'content-type': 'text/event-stream' },
  body: lines.map((one) => `id: ${one.seq}\nevent: ${name}\ndata: ${JSON.stringify(one)}\n\n`).join(''),
});
const looked = (operation) =>
  answer('POST', '/v1/agent-session-operations/lookup', 200, operation, { request: '{"retry_handle":"any"}' });
const without = (object, ...names) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

const lease = { started_at: time, lease_expires_at: time };

const fine = {
  'a new session': bound(session),
  'no content': answer('DELETE', `/v1/spaces/${id}/grants/${id}`, 204),
  'a problem': answer('GET', `/v1/runs/${id}`, 404, notFound),
  'a queued run': gotRun({}),
  'a running run': gotRun({ state: 'running', ...lease }),
  'a failed run': gotRun({ state: 'failed', finished_at: time, failure: { code: 'lease_expired' } }),
  'a message': messages({}),
  'a system line': messages({ kind: 'system', origin: 'system', content_md: '', system_code: 'thread.reopened' }),
  'a page of events': page(spaceChanged, sessionChanged),
  'an invocation': polled({}),
  'an invocation of a guest': polled({ kind: 'guest', session_mode: undefined, agent_session: undefined }),
  'a stream': streamed(`: hello\n\nid: 7\nevent: space.changed\ndata: ${JSON.stringify(spaceChanged)}\n\nid: 8\nev`),
  'a stream with other line breaks': streamed(
    `id: 7\r\nevent: space.changed\r\ndata: ${JSON.stringify(spaceChanged)}\r\n\r\n`,
  ),
  'a transcript as a stream': transcript('transcript.line', line, { ...line, seq: 4, line: '', exit_code: 0 }),
  'an operation in flight': looked({ state: 'in_flight' }),
  'an answer to HEAD': { ...answer('HEAD', `/v1/runs/${id}`, 200), headers: { 'x-request-id': 'r', etag: '"1"' } },
  'an unknown path': answer('GET', '/v1/nothing', 404, notFound),
  'a path that is too long': answer('GET', '/v1/spaces?cursor=x', 414, {
    ...notFound,
    type: 'urn:cleat:problem:uri_too_long',
    status: 414,
    code: 'uri_too_long',
  }),
};

const wrong = {
  'a wrong type': [bound({ ...session, version: '3' }), /version must be integer/],
  'a missing member': [bound(without(session, 'cost')), /must have required property 'cost'/],
  'a member too much': [bound({ ...session, cost_baseline_micros: 1 }), /additional.*cost_baseline_micros/],
  'a member too much further inside': [
    bound({ ...session, cost: { ...session.cost, total: 1 } }),
    /^\/cost .*additional.*total/,
  ],
  'null': [bound({ ...session, model: null }), /model is null/],
  'null where anything may stand': [
    answer('PATCH', `/v1/spaces/${id}`, 412, {
      ...notFound,
      type: 'urn:cleat:problem:version_conflict',
      status: 412,
      code: 'version_conflict',
      current: { name: null },
    }),
    /current\/name is null/,
  ],
  'a value that is none of the known': [gotRun({ state: 'paused' }), /state must be equal to one of.*held/],
  'an id that is none': [bound({ ...session, id: 'session-7' }), /\/id must match/],
  'a time without microseconds': [bound({ ...session, created_at: '2026-01-31T12:00:00Z' }), /created_at must match/],
  'a time that never was': [bound({ ...session, created_at: '2026-02-31T12:00:00.000000Z' }), /created_at must match/],
  'a status that is not promised': [answer('GET', `/v1/runs/${id}`, 201, run), /status 201 is not promised/],
  'a media type that is not promised': [
    { ...bound(session), headers: { ...bound(session).headers, 'content-type': 'text/html' } },
    /media type 'text\/html'/,
  ],
  'a body that is not promised': [answer('DELETE', `/v1/spaces/${id}/grants/${id}`, 204, {}), /body is not promised/],
  'a body that is no JSON': [{ ...bound(session), body: '{"id":' }, /not JSON/],
  'no ETag': [bound(session, { headers: { etag: undefined } }), /etag is missing/],
  'an ETag that is weak': [bound(session, { headers: { etag: 'W/"3"' } }), /etag.*must match pattern/],
  'an ETag of another version': [bound(session, { headers: { etag: '"2"' } }), /is not the version 3/],
  'an ETag of a list': [{ ...messages({}), headers: { ...messages({}).headers, etag: '"1"' } }, /etag is not promised/],
  'no request id': [bound(session, { headers: { 'x-request-id': undefined } }), /x-request-id is missing/],
  'no Retry-After': [answer('GET', '/v1/me', 503, { ...notFound, status: 503 }), /retry-after is missing/],
  'no Retry-After of a limit': [answer('GET', '/v1/me', 429, { ...notFound, status: 429 }), /retry-after is missing/],
  'no WWW-Authenticate': [answer('GET', '/v1/me', 401, { ...notFound, status: 401 }), /www-authenticate is missing/],
  'a problem with an unknown code': [answer('GET', '/v1/me', 400, { ...notFound, status: 400, code: 'oops' }), /code/],
  'a problem with another status': [answer('GET', '/v1/me', 400, notFound), /\/status is 404/],
  'an unknown path that is answered': [answer('GET', '/v1/nothing', 200, {}), /nothing in the contract/],
  'a wrong method without Allow': [answer('PUT', '/v1/me', 405, { ...notFound, status: 405 }), /allow is missing/],
  'a running run without a lease': [gotRun({ state: 'running', started_at: time }), /lease_expires_at/],
  'a queued run with a lease': [gotRun(lease), /must NOT be valid/],
  'a succeeded run with a failure': [
    gotRun({ state: 'succeeded', finished_at: time, failure: { code: 'oops' } }),
    /state must be equal to constant: failed/,
  ],
  'a system line with text': [
    messages({ kind: 'system', origin: 'system', system_code: 'thread.reopened' }),
    /content_md must be equal to constant/,
  ],
  'a message with a system code': [messages({ system_code: 'thread.reopened' }), /must NOT be valid/],
  'an event of an unknown type': [page({ ...spaceChanged, type: 'space.deleted' }), /items\/0.*type/],
  'an event with another payload': [page({ ...spaceChanged, payload: { run } }), /items\/0\/payload.*space/],
  'an event with a wrong payload': [
    page(spaceChanged, { ...sessionChanged, payload: { thread_id: id, agent_session: without(session, 'started') } }),
    /items\/1\/payload\/agent_session must have required property 'started'/,
  ],
  'a version of a session in an event': [
    page({ ...sessionChanged, resource: { kind: 'thread', id, version: 3 } }),
    /resource.*additional.*version/,
  ],
  'an event without a version': [page({ ...spaceChanged, resource: { kind: 'space', id } }), /property 'version'/],
  'an event of another resource': [page({ ...sessionChanged, resource: { kind: 'agent_session', id } }), /kind/],
  'a wrong event in a stream': [
    streamed(`id: 7\nevent: space.changed\ndata: ${JSON.stringify({ ...spaceChanged, actor: { id } })}\n\n`),
    /event 7: \/actor must have required property 'kind'/,
  ],
  'a stream with another id': [
    streamed(`id: 8\nevent: space.changed\ndata: ${JSON.stringify(spaceChanged)}\n\n`),
    /its id is not its seq 7/,
  ],
  'a stream with another name': [
    streamed(`id: 7\nevent: message\ndata: ${JSON.stringify(spaceChanged)}\n\n`),
    /it is called message/,
  ],
  'a stream of something else': [streamed('id: 7\nevent: space.changed\ndata: hello\n\n'), /its data is not JSON/],
  'a line of a transcript with another name': [
    transcript('message', line),
    /event 3: it is called message and has the type transcript.line/,
  ],
  'the end of an agent with a text': [transcript('transcript.line', { ...line, exit_code: 0 }), /line must be equal/],
  'a promoted operation without a session': [looked({ state: 'promoted' }), /property 'session_id'/],
  'a failed operation without a reason': [looked({ state: 'failed' }), /property 'failure'/],
  'an invocation of the operator without a mode': [
    polled({ session_mode: undefined, agent_session: undefined }),
    /property 'session_mode'/,
  ],
  'an invocation of a guest with a mode': [
    polled({ kind: 'guest', session_mode: 'new', agent_session: undefined }),
    /must NOT be valid/,
  ],
  'an invocation that resumes nothing': [polled({ agent_session: undefined }), /property 'agent_session'/],
  'an invocation with half a session': [polled({ agent_session: { id } }), /payload\/agent_session.*'thread_id'/],
  'a request that the contract forbids': [
    bound(session, { request: '{}' }),
    /the body was accepted.*external_session_ref/,
  ],
  'a parameter that the contract does not know': [
    { ...page(), path: '/v1/events?since=3' },
    /query parameter since was accepted/,
  ],
  'a parameter out of range': [{ ...page(), path: '/v1/events?limit=201' }, /limit was accepted: .*<= 200/],
};

for (const [name, exchange] of Object.entries(fine))
  test(`nothing is wrong with ${name}`, () => assert.deepEqual(contract.complaints(exchange), []));

for (const [name, [exchange, expected]] of Object.entries(wrong))
  test(`finds ${name}`, () => assert.match(contract.complaints(exchange).join('\n'), new RegExp(expected, 'm')));

test('a literal path counts more than a parameter', () => {
  const found = contract.find('GET', '/v1/agent/events');
  assert.equal(found.id, 'pollAgentEvents');
});

test('records are read line by line, and bytes that are no UTF-8 are found', () => {
  const lines = Buffer.from('{"body":"a"}\n{"body":"x"}\n{"body":"half a li', 'utf8');
  lines[lines.indexOf('x')] = 0xff;
  const [first, second, ...more] = exchangesIn(lines);
  assert.deepEqual(first, { body: 'a' });
  assert.match(contract.complaints(second).join(), /no UTF-8/);
  assert.deepEqual(more, [], 'a line that is not complete is none');
});

// A verdict over one success of every operation and one event of every type, without holding bodies against schemas.
function complete(exceptions) {
  const verdict = new Verdict(contract, exceptions);
  verdict.checked = 1;
  for (const statuses of verdict.answers.values()) statuses.set(200, 1);
  for (const type of verdict.events.keys()) verdict.events.set(type, 1);
  return verdict;
}

test('a verdict needs something to judge', () => {
  const verdict = new Verdict(contract, new Map());
  assert.match(verdict.text(), /not a single answer/);
  assert.ok(!verdict.passed());
});

test('a verdict over everything passes', () => {
  assert.deepEqual(complete(new Map()).gaps(), []);
  assert.ok(complete(new Map()).passed());
});

test('a verdict counts answers, events and mistakes', () => {
  const verdict = new Verdict(contract, new Map());
  verdict.judge(page(spaceChanged));
  verdict.judge(bound(session));
  verdict.judge(bound({ ...session, version: '3' }));
  verdict.judge(bound({ ...session, version: '3' }));
  assert.deepEqual([...verdict.answers.get('bindAgentSession')], [[201, 3]]);
  assert.equal(verdict.events.get('space.changed'), 1);
  assert.match(verdict.text(), /bindAgentSession: POST .* was answered 201, in Suite.Test\n {2}and 1 times more/);
  assert.ok(!verdict.passed());
});

test('a verdict misses an operation without a success', () => {
  const verdict = complete(new Map());
  verdict.answers.get('getRun').clear();
  verdict.answers.get('getRun').set(404, 5);
  assert.deepEqual(verdict.gaps(), ['getRun was never answered with a success']);
});

test('an exception holds as long as it is needed', () => {
  const exceptions = new Map([['getRun', 'for this test']]);
  const verdict = complete(exceptions);
  assert.match(verdict.gaps()[0], /take it off the exceptions/);
  verdict.answers.get('getRun').clear();
  assert.deepEqual(verdict.gaps(), []);
});

test('a verdict misses a type of event', () => {
  const verdict = complete(new Map());
  verdict.events.set('run.changed', 0);
  assert.deepEqual(verdict.gaps(), ['no event of type run.changed was seen']);
});
