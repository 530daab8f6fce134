// The real server for the benchmark: `treadle serve` over a data folder, in a process of its own, and a plain client.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { createParser } from 'eventsource-parser';
import type { Held } from './probe.ts';

const root = path.join(import.meta.dirname, '..');
const bundle = path.join(import.meta.dirname, 'treadle/served.yaml');

export interface Served {
  /** Milliseconds from the start of the process until it listens. */
  readonly startMs: number;
  /** What the process holds, after a collection where one is asked for. */
  held(collect?: boolean): Promise<Held>;
  /** Throws for everything but a success. */
  readonly call: (method: string, path: string, body?: object) => Promise<Record<string, unknown>>;
  /** Begins a run and gives its id. */
  begin(prompt: string, agent?: string): Promise<string>;
  /** Resolves when the stream is open. */
  follow(run: string, query: string, onFrame: OnFrame): Promise<Reader>;
  /** Throws when the server has said that anything went wrong. */
  stop(): Promise<void>;
}

export type OnFrame = (type: string, data: string, arrivedAt: number) => void;

export interface Reader {
  readonly ended: Promise<unknown>;
  leave(): void;
}

export async function serve(folder: string): Promise<Served> {
  const started = performance.now();
  const args = ['serve', bundle, '--port', '0', '--data', folder, '--log-level', 'warn', '--rate', '0'];
  const child = fork(path.join(root, 'src/cli/main.ts'), args, {
    execArgv: [
      '--expose-gc',
      '--disable-warning=ExperimentalWarning',
      '--import',
      path.join(import.meta.dirname, 'probe.ts'),
    ],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const gone = once(child, 'exit');
  let said = '';
  child.stderr?.on('data', (text) => (said += String(text)));
  const url = await new Promise<string>((resolve, reject) => {
    let heard = '';
    child.stdout?.on('data', (text) => {
      const found = /listens on (\S+)/.exec((heard += String(text)));
      if (found?.[1] !== undefined) resolve(found[1]);
    });
    void gone.then(() => reject(new Error(`the server did not start: ${said}`)));
  });
  const startMs = performance.now() - started;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

  function call(method: string, at: string, body?: object): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': 'application/json' };
      const request = http.request(`${url}${at}`, { method, headers, agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        response.on('end', () => {
          if ((response.statusCode ?? 500) < 300) resolve(JSON.parse(text) as Record<string, unknown>);
          else reject(new Error(`${method} ${at}: ${response.statusCode} ${text.slice(0, 300)}`));
        });
        response.on('error', reject);
      });
      request.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
    });
  }

  return {
    startMs,
    call,
    async held(collect = false) {
      const answered = once(child, 'message') as Promise<[Held]>;
      child.send(collect);
      return (await answered)[0];
    },
    async begin(prompt, name = 'one') {
      return String((await call('POST', '/api/v1/runs', { prompt, agent: name }))['id']);
    },
    follow(run, query, onFrame) {
      return new Promise((resolve, reject) => {
        const request = http.get(`${url}/api/v1/runs/${run}/stream?${query}`, { agent: false }, (response) => {
          let arrivedAt = 0;
          const parser = createParser({ onEvent: ({ event = '', data }) => onFrame(event, data, arrivedAt) });
          response.setEncoding('utf8').on('data', (text: string) => {
            arrivedAt = Date.now();
            parser.feed(text);
          });
          response.on('error', () => undefined); // whoever leaves has broken it off
          const ended = new Promise((done) => response.on('close', done));
          resolve({ ended, leave: () => void request.destroy() });
        });
        request.on('error', reject);
      });
    },
    async stop() {
      agent.destroy();
      child.kill('SIGTERM');
      await gone;
      const problems = said.split('\n').filter((line) => line !== '' && !line.startsWith('Letting work'));
      if (problems.length > 0) throw new Error(`the server said:\n${problems.slice(0, 5).join('\n')}`);
    },
  };
}
