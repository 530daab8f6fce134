// The README is tried: its files are written as they stand, its programs are type-checked and run, and so are its commands.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { KEY_VARIABLES } from '../src/adapters/models/keys.ts';
import { LOCAL_SERVERS } from '../src/adapters/models/local-servers.ts';
import { KNOWN_PROVIDERS } from '../src/adapters/models/providers.ts';
import { blocksOf, firstCells } from './support/markdown.ts';

const root = path.join(import.meta.dirname, '..');
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
const blocks = blocksOf(readme);
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
};

let folder = '';
before(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'treadle-readme-'));
  writeFileSync(path.join(folder, 'package.json'), '{"type": "module"}\n');
  for (const { file, text } of blocks) if (file !== undefined) writeFileSync(path.join(folder, file), text);
  // Readers install the package; here its name stands for the sources, and its dependencies are the repository's.
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
  const source = JSON.stringify(pathToFileURL(path.join(root, 'src/index.ts')).href);
  writeFileSync(
    path.join(folder, 'installed.mjs'),
    `import { registerHooks } from 'node:module';
registerHooks({ resolve: (name, context, next) => next(name === 'treadle' ? ${source} : name, context) });
`,
  );
});
after(() => rmSync(folder, { recursive: true, force: true }));

test('the README fits on a few screens, and its ten lines are ten', () => {
  assert.ok(readme.split('\n').length <= 175, 'it is for newcomers: move what is more into docs/');
  assert.equal(
    blocks
      .find(({ file }) => file === 'hello.yaml')
      ?.text.trimEnd()
      .split('\n').length,
    10,
  );
  assert.ok(readme.includes(`Version ${manifest.version.replace(/\.0$/, '')}.`));
});

test('every npm command is a script of the package', () => {
  const commands = [...readme.matchAll(/\bnpm (start|test|run ([\w:]+))/g)].map(([, name = '', run]) => run ?? name);
  assert.ok(commands.includes('start') && commands.includes('test') && commands.includes('treadle'));
  for (const name of commands) assert.ok(name in manifest.scripts, `npm run ${name}`);
});

test('its programs have no errors of type', () => {
  const files = blocks.flatMap(({ language, file }) =>
    language === 'ts' && file !== undefined ? [path.join(folder, file)] : [],
  );
  assert.ok(files.length >= 2);
  const given = ts.readConfigFile(path.join(root, 'tsconfig.json'), (file) => ts.sys.readFile(file)).config as {
    readonly compilerOptions: Record<string, unknown>;
  };
  const { options } = ts.convertCompilerOptionsFromJson(given.compilerOptions, root);
  const program = ts.createProgram(files, {
    ...options,
    paths: { treadle: [path.join(root, 'src/index.ts')] },
  });
  const wrong = files.flatMap((file) => program.getSemanticDiagnostics(program.getSourceFile(file)));
  assert.deepEqual(
    wrong.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
    [],
  );
});

test('its commands do what it says', async () => {
  const commands = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.trimEnd().split('\n'))
    .filter((line) => line.startsWith('npx treadle ') && !line.startsWith('npx treadle serve'));
  assert.equal(commands.length, 3);
  const printed: string[] = [];
  for (const command of commands) printed.push(await node(path.join(root, 'src/cli/main.ts'), ...words(command)));
  assert.match(printed[0] ?? '', /✓ hello@1/);
  assert.equal(printed[1], '12.5 times 4 is 50.\n');
  assert.match(printed[2] ?? '', /✓ calculate .*completed · 2 model calls · 1 action/s);
});

test('its server answers where it says', async () => {
  assert.ok(readme.includes('\nnpx treadle serve hello.yaml\n'));
  const given = [path.join(root, 'src/cli/main.ts'), 'serve', 'hello.yaml', '--port', '0', '--memory'];
  const server = spawn(process.execPath, ['--import', './installed.mjs', ...given], {
    cwd: folder,
    env: surroundings(),
  });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      let printed = '';
      server.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        const [, found] = /listens on (http:\S+)/.exec(printed) ?? [];
        if (found !== undefined) resolve(found);
      });
      server.on('exit', (status) => reject(new Error(`the server ended with ${status}`)));
    });
    const reply = (await (await fetch(`${url}/api/v1/agents`)).json()) as { agents: { name: string }[] };
    assert.deepEqual(
      reply.agents.map(({ name }) => name),
      ['main'],
    );
  } finally {
    server.kill('SIGKILL');
  }
});

test('its program runs, and its tool is one', async () => {
  assert.equal(await node('main.ts'), 'uses calculate\n12.5 times 4 is 50.\n');
  const bundle = blocks.find(({ file }) => file === 'hello.yaml')?.text ?? '';
  const entry = /granted with `(.*?)`/.exec(readme)?.[1] ?? '';
  writeFileSync(path.join(folder, 'shop.yaml'), bundle.replace(/\{ name: math.*?\}/, entry));
  const checked = await node(path.join(root, 'src/cli/main.ts'), 'check', 'shop.yaml');
  assert.match(checked, /tools +order \(asks a person, acts once\)/);
});

test('it names every provider, and the variable of its key', () => {
  const cells = firstCells(readme, 'Models').join(' ');
  for (const provider of KNOWN_PROVIDERS) assert.ok(cells.includes(`\`${provider}\``), provider);
  for (const [variable] of Object.values(KEY_VARIABLES)) assert.ok(readme.includes(`\`${variable}\``), variable);
});

test('it counts the examples', () => {
  const count = readdirSync(path.join(root, 'examples')).filter((name) => name.endsWith('.ts')).length;
  const inWords = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'][count] ?? '';
  assert.ok(readme.includes(`has ${inWords} programs`), `${count} examples`);
});

test('the picture shows a run that really goes like this', async () => {
  const picture = readFileSync(path.join(root, 'docs/treadle.svg'), 'utf8');
  const drawn = [...picture.matchAll(/<text x="488" y="\d+">([\w.]+)/g)].map(([, type]) => type);
  const cli = path.join(root, 'src/cli/main.ts');
  const desk = path.join(root, 'agents/desk.yaml');
  await node(cli, 'run', desk, 'note: call Bo', '--on-approval', 'wait', '--data', 'picture', '-q').catch(
    () => undefined,
  );
  await node(cli, 'resume', 'last', '--allow', '--data', 'picture', '-q');
  const log = await node(cli, 'show', 'last', '--log', '--data', 'picture');
  const types = log
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { type: string }).type);
  assert.deepEqual(drawn, types);
});

/** Words of a command line as a shell reads them, without the program. */
function words(command: string): readonly string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '').slice(2);
}

/** The environment without anything that a model could be reached by. */
function surroundings(): NodeJS.ProcessEnv {
  const keys = Object.values(KEY_VARIABLES).flat();
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !keys.some((key) => key === name)));
  for (const { variable } of Object.values(LOCAL_SERVERS)) env[variable] = 'http://127.0.0.1:9';
  delete env['TREADLE_DATA'];
  delete env['FORCE_COLOR']; // which the test runner sets for its children on some machines
  return env;
}

/** Runs a file in the reader's folder, where no model can be reached. What it printed; rejects when it failed. */
function node(file: string, ...given: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', './installed.mjs', file, ...given], {
      cwd: folder,
      env: surroundings(),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    child.on('error', reject);
    child.on('close', (status) =>
      status === 0 ? resolve(stdout) : reject(new Error(`${file} ${given.join(' ')} ended with ${status}: ${stderr}`)),
    );
  });
}
