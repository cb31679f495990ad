// docs/openapi.yaml as a judge of exchanges: was the answer to a request one that the contract promises?
//
// An exchange is what tests/process/contract.cpp records:
//   {test, method, path, request, status, headers: {name: value}, body}
// with header names in lower case. `request` is there when a request with a body had success; `garbled` is set when the
// record is no UTF-8.
import { Ajv, addFormats, parseYaml } from './tools.mjs';

const methods = ['get', 'post', 'put', 'patch', 'delete'];

// What may come instead of any answer of an operation, because the request never got that far (info.description).
const before_any_operation = new Set([405, 414, 431]);

// References as Ajv finds them, in one schema that holds all the others. The mapping of a discriminator says nothing
// that the constants in its branches do not say, and Ajv does without.
function translate(node) {
  if (Array.isArray(node)) return node.map(translate);
  if (node === null || typeof node !== 'object') return node;
  const result = {};
  for (const [key, value] of Object.entries(node)) {
    if (key === '$ref') result[key] = value.replace('#/components/schemas/', 'contract#/$defs/');
    else if (key === 'discriminator' && value.mapping) result[key] = { propertyName: value.propertyName };
    else result[key] = translate(value);
  }
  return result;
}

function nullsIn(value, at = '') {
  if (value === null) return [`${at || '/'} is null`];
  if (typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, child]) => nullsIn(child, `${at}/${key}`));
}

function words(error) {
  const { additionalProperty, allowedValues, allowedValue } = error.params;
  const detail = additionalProperty ?? allowedValues?.join(', ') ?? allowedValue;
  return `${error.instancePath || '/'} ${error.message}${detail === undefined ? '' : `: ${detail}`}`;
}

// The events of a stream. What stands behind the last empty line is not complete and does not count.
export function readStream(text) {
  const events = [];
  for (const block of text.replaceAll('\r\n', '\n').split('\n\n').slice(0, -1)) {
    const fields = {};
    for (const line of block.split('\n')) {
      if (line === '' || line.startsWith(':')) continue;
      const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
      fields[name] = name === 'data' && fields.data !== undefined ? `${fields.data}\n${value}` : value;
    }
    if (Object.keys(fields).length > 0) events.push(fields);
  }
  return events;
}

export class Contract {
  constructor(text) {
    this.document = parseYaml(text);
    // Unknown keywords, formats and misplaced ones are errors. Only the branches of if, then and else may require what
    // the schema around them declares.
    this.ajv = new Ajv({ strict: true, strictRequired: false, allErrors: true, discriminator: true });
    addFormats(this.ajv);
    this.ajv.addVocabulary(['example']);
    this.ajv.addSchema({ $id: 'contract', $defs: translate(this.document.components.schemas) });
    this.problem = this.compile({ $ref: '#/components/schemas/Problem' });
    this.operations = [];
    for (const [pattern, item] of Object.entries(this.document.paths))
      for (const method of methods) if (item[method]) this.operations.push(this.readOperation(pattern, item, method));
    // A literal path counts more than one with parameters.
    this.operations.sort((a, b) => a.segments.filter(isParameter).length - b.segments.filter(isParameter).length);
  }

  // Every type of event that the contract knows, with the agents' own.
  eventTypes() {
    const schemas = this.document.components.schemas;
    const branches = schemas.Event.oneOf.map((branch) => this.resolve(branch).properties.type.const);
    return [...branches, ...schemas.AgentEvent.properties.type.enum];
  }

  // The operation that a request belongs to; HEAD is answered like GET.
  find(method, path) {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const segments = path.split('?')[0].split('/');
    return this.operations.find(
      (operation) =>
        operation.method === wanted &&
        operation.segments.length === segments.length &&
        operation.segments.every((segment, i) => isParameter(segment) || segment === segments[i]),
    );
  }

  // What is wrong with an exchange, as a list of sentences.
  complaints(exchange) {
    if (exchange.garbled) return ['the answer has bytes that are no UTF-8'];
    const operation = this.find(exchange.method, exchange.path);
    if (!operation || before_any_operation.has(exchange.status)) return this.outside(exchange);
    const { status } = exchange;
    const promised =
      operation.responses.get(`${status}`) ??
      operation.responses.get(`${Math.floor(status / 100)}XX`) ??
      operation.responses.get('default');
    if (!promised) return [`status ${status} is not promised`];
    const found = [...this.headers(promised, exchange.headers), ...this.body(promised, exchange)];
    // What the server did as it was asked must be a request that the contract allows.
    if (status < 300) found.push(...this.request(operation, exchange));
    return found;
  }

  // The events in the body of an answer, parsed; none when it brings none.
  eventsOf(exchange) {
    const type = exchange.headers['content-type'] ?? '';
    if (type.startsWith('text/event-stream')) return readStream(exchange.body).map((event) => parse(event.data));
    const body = type.startsWith('application/json') ? parse(exchange.body) : undefined;
    return Array.isArray(body?.items) && body.next_after !== undefined ? body.items : [];
  }

  resolve(node) {
    if (!node?.$ref) return node;
    return node.$ref
      .slice(2)
      .split('/')
      .reduce((at, step) => at[step], this.document);
  }

  compile(schema) {
    return this.ajv.compile(translate(schema));
  }

  readOperation(pattern, item, method) {
    const node = item[method];
    const responses = new Map();
    for (const [status, response] of Object.entries(node.responses))
      responses.set(status, this.readResponse(this.resolve(response)));
    const query = new Map();
    for (const parameter of [...(item.parameters ?? []), ...(node.parameters ?? [])].map((one) => this.resolve(one)))
      if (parameter.in === 'query') query.set(parameter.name, this.compileText(parameter.schema));
    const body = this.resolve(node.requestBody);
    return {
      id: node.operationId,
      method: method.toUpperCase(),
      segments: pattern.split('/'),
      responses,
      query,
      takes_body: body !== undefined,
      needs_body: body?.required ?? false,
      body: body && this.compile(body.content['application/json'].schema),
    };
  }

  readResponse(response) {
    const headers = new Map();
    for (const [name, reference] of Object.entries(response.headers ?? {})) {
      const header = this.resolve(reference);
      headers.set(name.toLowerCase(), { required: header.required ?? false, check: this.compileText(header.schema) });
    }
    const media = new Map();
    for (const [type, content] of Object.entries(response.content ?? {}))
      media.set(type, {
        check: this.compile(content.schema),
        item: content['x-item-schema'] && this.compile(content['x-item-schema']),
        // The name of every event, where it does not stand in the event itself.
        event: content['x-event-name'],
      });
    return { headers, media };
  }

  // A schema for what travels as text: the value is read as a number where one is asked for.
  compileText(schema) {
    const check = this.compile(schema);
    const type = this.resolve(schema).type;
    return (text) => {
      const numeric = type === 'integer' && /^-?\d+$/.test(text);
      return check(numeric ? Number(text) : text) ? [] : check.errors.map(words);
    };
  }

  headers(promised, headers) {
    const found = [];
    for (const [name, { required, check }] of promised.headers) {
      const value = headers[name];
      if (value !== undefined) found.push(...check(value).map((text) => `header ${name} '${value}': ${text}`));
      else if (required) found.push(`header ${name} is missing`);
    }
    if (headers.etag !== undefined && !promised.headers.has('etag')) found.push('header etag is not promised');
    return found;
  }

  body(promised, exchange) {
    const { method, headers, body } = exchange;
    if (method === 'HEAD') return body === '' ? [] : ['HEAD was answered with a body'];
    if (promised.media.size === 0) return body === '' ? [] : ['a body is not promised'];
    const type = (headers['content-type'] ?? '').split(';')[0].trim();
    const media = promised.media.get(type);
    if (!media) return [`media type '${type}' is not promised`];
    if (type.endsWith('json')) return this.json(media.check, exchange);
    if (media.item) return this.stream(media, body);
    return [];
  }

  json(check, exchange) {
    const value = parse(exchange.body);
    if (value === undefined) return ['the body is not JSON'];
    const found = nullsIn(value);
    if (!check(value)) found.push(...check.errors.map(words));
    const { etag } = exchange.headers;
    if (etag !== undefined && value?.version !== undefined && etag !== `"${value.version}"`)
      found.push(`header etag '${etag}' is not the version ${value.version}`);
    if (exchange.headers['content-type'].startsWith('application/problem') && value?.status !== exchange.status)
      found.push(`/status is ${value?.status}`);
    return found;
  }

  stream(media, text) {
    const check = media.item;
    const found = [];
    for (const event of readStream(text)) {
      const value = parse(event.data ?? '');
      const at = `event ${event.id}:`;
      if (value === undefined) {
        found.push(`${at} its data is not JSON`);
        continue;
      }
      if (!check(value)) found.push(...check.errors.map((error) => `${at} ${words(error)}`));
      found.push(...nullsIn(value).map((text) => `${at} ${text}`));
      if (event.id !== `${value?.seq}`) found.push(`${at} its id is not its seq ${value?.seq}`);
      const name = media.event ?? value?.type;
      if (event.event !== name) found.push(`${at} it is called ${event.event} and has the type ${name}`);
    }
    return found;
  }

  request(operation, exchange) {
    const found = [];
    const query = new URLSearchParams(exchange.path.split('?')[1] ?? '');
    for (const [name, value] of query) {
      const check = operation.query.get(name);
      if (!check) found.push(`the query parameter ${name} was accepted and is not in the contract`);
      else found.push(...check(value).map((text) => `the query parameter ${name} was accepted: ${text}`));
    }
    const text = exchange.request ?? '';
    if (text === '') return operation.needs_body ? [...found, 'no body was accepted where one is required'] : found;
    if (!operation.takes_body) return text === '{}' ? found : [...found, 'a body was accepted where none is taken'];
    const value = parse(text);
    if (value === undefined) return [...found, 'a body that is no JSON was accepted'];
    if (operation.body(value)) return found;
    return [...found, ...operation.body.errors.map((error) => `the body was accepted: ${words(error)}`)];
  }

  // Unknown paths, wrong methods and what is no request: problem details, whatever was asked.
  outside(exchange) {
    const { method, status, headers, body } = exchange;
    if (status < 400) return [`nothing in the contract is ${method} ${exchange.path}, and it was answered ${status}`];
    if (status === 405 && headers.allow === undefined) return ['header allow is missing'];
    if (method === 'HEAD') return body === '' ? [] : ['HEAD was answered with a body'];
    const type = headers['content-type'] ?? '';
    if (!type.startsWith('application/problem+json')) return [`media type '${type}' is no problem`];
    return this.json(this.problem, exchange);
  }
}

function isParameter(segment) {
  return segment.startsWith('{');
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
