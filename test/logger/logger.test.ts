import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseJson, type JsonObject } from '../../src/base/json.ts';
import { createLogger, type LoggerOptions } from '../../src/adapters/logger/pino.ts';
import { logSettings, secretsOf } from '../../src/adapters/logger/settings.ts';
import type { Logger } from '../../src/kernel/logger.ts';

function said(options: LoggerOptions, say: (logger: Logger) => void): string[] {
  const lines: string[] = [];
  say(createLogger({ ...options, write: (line) => void lines.push(line) }));
  return lines;
}

function fieldsOf(fields: Record<string, unknown>, options: LoggerOptions = {}): JsonObject {
  const [line = '{}'] = said(options, (logger) => logger.info('said', fields));
  return parseJson(line, 'line') as JsonObject; // pino writes objects
}

test('a line is one JSON object with level, time, message and fields', () => {
  const [line = ''] = said({ fields: { version: '1' } }, (logger) =>
    logger.warn('slow', { conversation: 'c1', ms: 12 }),
  );
  const { time, ...rest } = parseJson(line, 'line') as JsonObject; // as above
  assert.deepEqual(rest, { level: 'warn', version: '1', conversation: 'c1', ms: 12, msg: 'slow' });
  assert.match(JSON.stringify(time), /^"\d{4}-\d\d-\d\dT[\d:.]+Z"$/);
  assert.equal(line.endsWith('\n'), true);
});

test('a readable line has its fields behind the message and the stack below it', () => {
  const error = new Error('no');
  error.stack = 'Error: no\n    at here';
  const [line = ''] = said({ format: 'text' }, (logger) => logger.error('it failed', { run: 'r 1', error }));
  assert.match(line, /^\d\d:\d\d:\d\d\.\d{3} ERROR it failed run="r 1" error=no\n {2}Error: no\n {6}at here\n$/);
});

test('only lines of the level and above are written', () => {
  const say = (logger: Logger): void => {
    logger.debug('a');
    logger.info('b');
    logger.error('c');
  };
  assert.equal(said({ level: 'debug' }, say).length, 3);
  assert.equal(said({ level: 'error' }, say).length, 1);
  assert.equal(said({ level: 'silent' }, say).length, 0);
});

test('fields with the name of a secret are redacted, however deep', () => {
  const secrets = {
    headers: { authorization: 'Basic eDp5', 'set-cookie': 'a=1', 'x-api-key': 'abc' },
    list: [{ apiKey: 'abc', accessToken: 'abc', client_secret: 'abc', password: 'abc' }],
    token: { value: 'abc' },
  };
  const text = JSON.stringify(fieldsOf(secrets));
  assert.doesNotMatch(text, /abc|eDp5|a=1/);
});

test('counts of tokens and names of keys stay readable', () => {
  const fields = { tokens: 12, token: 3, maxTokens: 4, inputTokens: 5, keyId: 'k1', key: 'say-1', secret: '' };
  const shown = fieldsOf(fields);
  assert.deepEqual(Object.fromEntries(Object.keys(fields).map((name) => [name, shown[name]])), fields);
});

const SHAPES = [
  'sk-ant-api03-abcdefghijkl',
  'sk-proj-Ab1_Ab1_Ab1_Ab1_',
  'AIzaSyA1234567890123456789012345678901',
  'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
  'xoxb-123456789012-abcdef',
  'AKIAIOSFODNN7EXAMPLE',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
  'gsk_abcdefghijklmnop1234567890',
];

test('texts with the shape of a secret are redacted inside sentences, URLs and errors', () => {
  for (const secret of SHAPES) {
    const error = new Error(`refused ${secret}`, { cause: new Error(`because ${secret}`) });
    const lines = said({}, (logger) =>
      logger.error(`the key ${secret} is wrong`, { error, url: `https://a.b/?x=${secret}` }),
    );
    assert.equal(lines.join('').includes(secret), false, secret);
  }
  const others = [
    'Authorization: Bearer abc.def.ghi',
    'postgres://user:pa55word@host/db',
    'https://a.b/c?api_key=pa55word&x=1',
    '{"client_secret":"pa55word"}',
    '-----BEGIN PRIVATE KEY-----\npa55word\n-----END PRIVATE KEY-----',
  ];
  for (const text of others)
    assert.doesNotMatch(said({}, (logger) => logger.info(text)).join(''), /pa55word|abc\.def/, text);
});

test('values of secret variables are redacted whatever they look like', () => {
  const secrets = secretsOf({ OPENAI_API_KEY: 'correct horse battery', USER: 'ana', TREADLE_TOKEN: 'short' });
  assert.deepEqual(secrets, ['correct horse battery', 'short']);
  assert.doesNotMatch(JSON.stringify(fieldsOf({ note: 'it is "correct horse battery"' }, { secrets })), /horse/);
});

test('what cannot be written as JSON is cut, and a field that throws costs the fields and not the line', () => {
  const loop: Record<string, unknown> = { big: 2n, long: 'x'.repeat(20_000), bytes: new Uint8Array(3) };
  loop['self'] = loop;
  const { loop: shown } = fieldsOf({ loop }) as { loop: JsonObject };
  assert.deepEqual([shown['big'], shown['self'], shown['bytes']], ['2', '[circular]', '[3 bytes]']);
  assert.ok(JSON.stringify(shown['long']).length < 9_000);
  const trap = {
    get a(): string {
      throw new Error('trap');
    },
  };
  assert.equal(fieldsOf({ trap })['msg'], 'said');
});

test('level and format come from the option, then the environment, then the place they are read', () => {
  const environment = { TREADLE_LOG_LEVEL: 'warn', TREADLE_LOG_FORMAT: 'text' };
  assert.deepEqual(logSettings({ environment, isTerminal: false }), { level: 'warn', format: 'text' });
  assert.deepEqual(logSettings({ level: 'debug', environment, isTerminal: false }).level, 'debug');
  assert.deepEqual(logSettings({ environment: {}, isTerminal: false }), { level: 'info', format: 'json' });
  assert.equal(logSettings({ environment: {}, isTerminal: true }).format, 'text');
  assert.throws(
    () => logSettings({ environment: { TREADLE_LOG_LEVEL: 'loud' }, isTerminal: true }),
    /TREADLE_LOG_LEVEL: found "loud", wanted debug, info, warn, error, silent/,
  );
});
