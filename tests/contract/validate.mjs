// Holds every recorded answer against the contract: node validate.mjs CONTRACT FOLDER
//
// The folder has the records of tests/process, one exchange a line (tests/process/contract.cpp).
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { Contract } from './contract.mjs';

const shown_at_most = 30;
const excerpt_characters = 400;

// Operations that no process test can bring to a success, each with the suite that does and the reason. An entry that
// is not true any more is a complaint as well.
const elsewhere = new Map([]);

// What came of all records.
export class Verdict {
  constructor(contract, exceptions = elsewhere) {
    this.contract = contract;
    this.exceptions = exceptions;
    this.checked = 0;
    this.outside = 0;
    this.answers = new Map(contract.operations.map((operation) => [operation.id, new Map()]));
    this.events = new Map(contract.eventTypes().map((type) => [type, 0]));
    this.found = new Map();
  }

  judge(exchange) {
    this.checked += 1;
    const operation = this.contract.find(exchange.method, exchange.path);
    if (operation) {
      const statuses = this.answers.get(operation.id);
      statuses.set(exchange.status, (statuses.get(exchange.status) ?? 0) + 1);
      for (const event of this.contract.eventsOf(exchange))
        if (this.events.has(event?.type)) this.events.set(event.type, this.events.get(event.type) + 1);
    } else {
      this.outside += 1;
    }
    const complaints = this.contract.complaints(exchange);
    if (complaints.length > 0) this.complain(operation?.id ?? 'no operation', exchange, complaints);
  }

  // The same mistake in many answers is told once.
  complain(name, exchange, complaints) {
    const kind = `${name} ${exchange.status} ${complaints.join('\n').replace(/\d+/g, 'N')}`;
    const known = this.found.get(kind);
    if (known) known.times += 1;
    else this.found.set(kind, { name, exchange, complaints, times: 1 });
  }

  // What the records as a whole lack.
  gaps() {
    if (this.checked === 0) return ['there is not a single answer to check: did tests/process run and record?'];
    const gaps = [];
    for (const [id, statuses] of this.answers) {
      const succeeded = [...statuses.keys()].some((status) => status < 300);
      if (!succeeded && !this.exceptions.has(id)) gaps.push(`${id} was never answered with a success`);
      if (succeeded && this.exceptions.has(id)) gaps.push(`${id} is answered here; take it off the exceptions`);
    }
    for (const [type, count] of this.events) if (count === 0) gaps.push(`no event of type ${type} was seen`);
    return gaps;
  }

  passed() {
    return this.found.size === 0 && this.gaps().length === 0;
  }

  text() {
    const lines = [];
    for (const { name, exchange, complaints, times } of [...this.found.values()].slice(0, shown_at_most)) {
      lines.push(`${name}: ${exchange.method} ${exchange.path} was answered ${exchange.status}, in ${exchange.test}`);
      if (times > 1) lines.push(`  and ${times - 1} times more`);
      lines.push(...complaints.map((complaint) => `  ${complaint}`));
      if (exchange.request) lines.push(`  request: ${exchange.request.slice(0, excerpt_characters)}`);
      lines.push(`  answer: ${exchange.body.slice(0, excerpt_characters)}`, '');
    }
    const hidden = this.found.size - shown_at_most;
    if (hidden > 0) lines.push(`and ${hidden} kinds of mistakes more`, '');
    lines.push(...this.gaps().map((gap) => `gap: ${gap}`), '');
    for (const [id, statuses] of this.answers) {
      const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status} x ${count}`);
      lines.push(`  ${id.padEnd(22)} ${counts.join(', ')}`);
    }
    lines.push(`  events: ${[...this.events].map(([type, count]) => `${type} x ${count}`).join(', ')}`);
    lines.push(`checked ${this.checked} answers (${this.outside} to requests that are no operation)`);
    lines.push(this.passed() ? 'all are what docs/openapi.yaml promises' : 'docs/openapi.yaml and the server differ');
    return lines.join('\n');
  }
}

// The exchanges in a folder of records. Bytes that are no UTF-8 are a mistake of the server, which `complaints` tells.
export function* exchangesIn(bytes) {
  const strict = new TextDecoder('utf-8', { fatal: true });
  const newline = 10;
  for (let begin = 0, end; (end = bytes.indexOf(newline, begin)) >= 0; begin = end + 1) {
    const line = bytes.subarray(begin, end);
    try {
      yield JSON.parse(strict.decode(line));
    } catch (error) {
      if (error.code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
      yield { ...JSON.parse(new TextDecoder().decode(line)), garbled: true };
    }
  }
}

function main([contract, folder]) {
  const verdict = new Verdict(new Contract(readFileSync(contract, 'utf8')));
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  for (const name of names)
    for (const exchange of exchangesIn(readFileSync(join(folder, name)))) verdict.judge(exchange);
  console.log(verdict.text());
  return verdict.passed() ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) process.exitCode = main(process.argv.slice(2));
