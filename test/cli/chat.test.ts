// The chat through a pipe, line by line; and in a terminal, where it is typed into.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { environment, MAIN, OUTCOMES, treadle, until, workplace } from './treadle.ts';

describe('treadle chat through a pipe', { concurrency: 2 }, () => {
  it('answers the first example without a key, and follow-ups', async (t) => {
    const ran = await treadle(['chat'], { cwd: workplace(t), input: '8k in 10k\n\nand 5k?\n' });
    assert.deepEqual(ran.out.match(/Fixture exposure: \S+/g), ['Fixture exposure: 80.00%', 'Fixture exposure: 50.00%']);
    assert.deepEqual([ran.code, ran.err, ran.out.includes('\x1b')], [0, '', false]);
  });

  it('exits as the last run did', async (t) => {
    assert.equal((await treadle(['chat', OUTCOMES], { cwd: workplace(t), input: 'hello\nloop\n' })).code, 3);
  });

  it('takes the next line for the answer to a question', async (t) => {
    const ran = await treadle(['chat', OUTCOMES], { cwd: workplace(t), input: 'colour\n2\n' });
    assert.equal(ran.out, 'You like blue.\n');
  });

  it('takes no line for consent: it leaves what needs an approval waiting', async (t) => {
    const cwd = workplace(t);
    const file = path.join(cwd, 'effects');
    const ran = await treadle(['chat', OUTCOMES], { cwd, input: `write ${file}\ny\n` });
    assert.deepEqual([ran.code, existsSync(file)], [5, false]);
    assert.match(ran.err, /^One more line was not said: the run waits for a person\.$/m);
  });

  it('refuses what needs an approval where the log is not kept, and goes on', async (t) => {
    const cwd = workplace(t);
    const file = path.join(cwd, 'effects');
    const ran = await treadle(['chat', '--memory', OUTCOMES], { cwd, input: `write ${file}\ncolour\n` });
    assert.deepEqual(
      [existsSync(file), ran.out],
      [false, 'The tool said: The user refused this action: Nobody is there to ask.\n'],
    );
    assert.match(ran.err, /Which colour\?/);
    assert.match(ran.err, /so nobody can go on with it later\.$/m);
    assert.doesNotMatch(ran.err, / resume /);
  });
});

const hasTerminal = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0;
const without = hasTerminal ? false : 'there is no script(1) of util-linux here to make a terminal';

/** A person at a terminal: types, and waits for what is shown. */
function sit(command: string, t: { after(undo: () => void): void }, cwd: string) {
  const child = spawn('script', ['-qec', `stty cols 80 rows 40; ${command}`, '/dev/null'], {
    cwd,
    env: environment(),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  let shown = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  const code = new Promise<number | null>((resolve) => child.on('close', resolve));
  return {
    code,
    type: (text: string) => child.stdin.write(text),
    /** Waits for it, after what was waited for before. */
    async sees(what: RegExp): Promise<void> {
      const look = (): boolean => {
        const plain = stripVTControlCharacters(shown).replaceAll('\r', '');
        const found = what.exec(plain);
        if (found !== null) shown = plain.slice(found.index + found[0].length);
        return found !== null;
      };
      await until(look).catch((error: unknown) => {
        throw new Error(`${what.toString()} was not seen in:\n${stripVTControlCharacters(shown)}`, { cause: error });
      });
    },
  };
}

const chat = (...args: string[]): string => [process.execPath, MAIN, 'chat', ...args].join(' ');
const PROMPT = /› $/;

describe('treadle chat in a terminal', { concurrency: 2, skip: without }, () => {
  it('says which model answers and what to type, and shows actions and the answer', async (t) => {
    const person = sit(chat(), t, workplace(t));
    await person.sees(/exposure@1[\s\S]*no API key[\s\S]*OPENAI_API_KEY[\s\S]*treadle\.db[\s\S]*8k in 10k/);
    await person.sees(PROMPT);
    person.type('8k in 10k\r');
    await person.sees(/✓ calculate_exposure[\s\S]*Fixture exposure: 80\.00%[\s\S]*2 model calls/);
    person.type('\x04');
    assert.equal(await person.code, 0);
  });

  it('takes an edit of the bundle with the next message, and says where one is wrong', async (t) => {
    const cwd = workplace(t);
    const file = path.join(cwd, 'app.yaml');
    const bundle = 'id: app\nmodels: { balanced: { provider: scripted, model: scripted, script: ./says.json } }\n';
    const says = (text: string) =>
      writeFileSync(path.join(cwd, 'says.json'), JSON.stringify({ replies: [{ text }], repeat: true }));
    writeFileSync(file, bundle);
    says('First.');
    const person = sit(chat(file), t, cwd);
    await person.sees(PROMPT);
    person.type('hi\r');
    await person.sees(/First\.[\s\S]*› $/);
    says('Second.');
    person.type('hi\r');
    await person.sees(/The bundle was edited[\s\S]*Second\.[\s\S]*› $/);
    writeFileSync(file, `${bundle}models: twice\n`);
    person.type('hi\r');
    await person.sees(/An edit of the bundle does not count yet[\s\S]*Second\.[\s\S]*› $/);
    person.type('/quit\r');
    assert.equal(await person.code, 0);
  });

  it('asks before an action, takes Enter for a no and lets arguments be changed', async (t) => {
    const cwd = workplace(t);
    const file = path.join(cwd, 'effects');
    const person = sit(chat(OUTCOMES), t, cwd);
    await person.sees(PROMPT);
    person.type(`write ${file}\r`);
    await person.sees(/approved_line wants to run[\s\S]*"line": "one"[\s\S]*allow\? \[y\/c\/a\/N\/e\] $/);
    person.type('\r');
    await person.sees(/why not\? .*$/);
    person.type('not now\r');
    await person.sees(/refused this action: not now[\s\S]*› $/);
    assert.equal(existsSync(file), false);

    person.type(`write ${file}\r`);
    await person.sees(/allow\? \[y\/c\/a\/N\/e\] $/);
    person.type('e\r');
    await person.sees(/arguments \{.*\}$/);
    person.type('\x15{"file": 7}\r'); // Ctrl-U clears what stands there
    await person.sees(/That does not fit[\s\S]*allow\? \[y\/c\/a\/N\/e\] $/);
    person.type(`e {"file": "${file}", "line": "two"}\r`);
    await person.sees(/The tool said: 1[\s\S]*› $/);
    assert.equal(readFileSync(file, 'utf8'), 'two\n');
    person.type('/quit\r');
    assert.equal(await person.code, 0);
  });

  it('lets the steps of a plan be changed line by line, and goes on with those', async (t) => {
    const cwd = workplace(t);
    const file = path.join(cwd, 'app.yaml');
    const script = { replies: [{ text: 'Baked.' }], repeat: true };
    writeFileSync(path.join(cwd, 'says.json'), JSON.stringify(script));
    writeFileSync(
      file,
      `id: app
config: { react: { main: { planning: { approval: always } } } }
plugins: { active: [planner.static], planner.static: { steps: [Buy eggs, Mix, Ice it] } }
models: { balanced: { provider: scripted, model: scripted, script: ./says.json } }
`,
    );
    const person = sit(chat(file), t, cwd);
    await person.sees(PROMPT);
    person.type('Bake a cake.\r');
    await person.sees(/Go on with this plan\?[\s\S]*3\. Ice it[\s\S]*allow\? \[y\/N\/e\] $/);
    person.type('e\r');
    await person.sees(/\+ words adds one[\s\S]*plan \[3 steps\] $/);
    person.type('9 Fly\r');
    await person.sees(/There is no step 9: the plan has 3\.[\s\S]*plan \[3 steps\] $/);
    person.type('-3\r');
    await person.sees(/2\. Mix\n[\s\S]*plan \[2 steps\] $/);
    person.type('q\r');
    await person.sees(/allow\? \[y\/N\/e\] $/);
    person.type('e\r');
    await person.sees(/plan \[3 steps\] $/); // what was dropped is there again
    person.type('+1 Wash hands\r');
    await person.sees(/1\. Wash hands[\s\S]*plan \[4 steps\] $/);
    person.type('3 Mix by hand\r');
    await person.sees(/3\. Mix by hand[\s\S]*plan \[4 steps\] $/);
    person.type('\r');
    await person.sees(/Baked\.[\s\S]*› $/);
    person.type('/quit\r');
    assert.equal(await person.code, 0);
    const shown = await treadle(['show', 'last'], { cwd });
    assert.deepEqual(shown.out.match(/\d\. .*/g), ['1. Wash hands', '2. Buy eggs', '3. Mix by hand', '4. Ice it']);
  });

  it('asks no more for what a person allows in this conversation', async (t) => {
    const cwd = workplace(t);
    const file = path.join(cwd, 'effects');
    const person = sit(chat(OUTCOMES), t, cwd);
    await person.sees(PROMPT);
    person.type(`write ${file}\r`);
    await person.sees(/every run of approved_line: c allows it[\s\S]*allow\? \[y\/c\/a\/N\/e\] $/);
    person.type('c\r');
    await person.sees(/The tool said: 1[\s\S]*› $/);
    person.type(`write ${file}\r`);
    await person.sees(/The tool said: 2[\s\S]*› $/);
    assert.equal(readFileSync(file, 'utf8'), 'one\none\n');
    person.type('/quit\r');
    assert.equal(await person.code, 0);
  });

  it('stops a turn with Ctrl-C, resumes it, and leaves with a second Ctrl-C', async (t) => {
    const person = sit(chat(OUTCOMES), t, workplace(t));
    await person.sees(PROMPT);
    person.type('hang\r');
    await person.sees(/thinking/);
    person.type('\x03');
    await person.sees(/Stopped\. [\s\S]*› $/);
    person.type('/resume\r');
    await person.sees(/goes on[\s\S]*thinking/);
    person.type('\x03\x03');
    assert.equal(await person.code, 130);
  });

  it('stops with Ctrl-C the turn that runs, and not what was said after it', async (t) => {
    const cwd = workplace(t);
    const person = sit(chat(OUTCOMES), t, cwd);
    await person.sees(PROMPT);
    person.type(`slowly ${path.join(cwd, 'effects')}\r`);
    await until(() => existsSync(path.join(cwd, 'effects')));
    person.type('hello\r');
    await person.sees(/hello {2}· not read yet/);
    person.type('\x03');
    await person.sees(/Stopped\.[\s\S]*› hello[\s\S]*You said: hello[\s\S]*› $/);
    person.type('\x04');
    assert.equal(await person.code, 0);
  });

  it('leaves nothing at the prompt of arguments that were not sent', async (t) => {
    const cwd = workplace(t);
    const person = sit(chat(OUTCOMES), t, cwd);
    await person.sees(PROMPT);
    person.type(`write ${path.join(cwd, 'effects')}\r`);
    await person.sees(/allow\? \[y\/c\/a\/N\/e\] $/);
    person.type('e\r');
    await person.sees(/arguments \{.*\}$/);
    person.type('\x03');
    await person.sees(/It still waits\.[^{]*› $/);
    person.type('\x04');
    assert.equal(await person.code, 0);
  });

  it('keeps what is typed while it works until it is read', async (t) => {
    const person = sit(chat(OUTCOMES), t, workplace(t));
    await person.sees(PROMPT);
    person.type('story\r');
    await person.sees(/answering/);
    person.type('more\r');
    await person.sees(/more {2}· not read yet/);
    await person.sees(/The end\.[\s\S]*› more[\s\S]*More of it\.[\s\S]*› $/);
    person.type('\x03');
    assert.equal(await person.code, 0);
  });

  it('shows control characters of a model instead of obeying them', async (t) => {
    const person = sit(chat(OUTCOMES), t, workplace(t));
    await person.sees(PROMPT);
    person.type('escape\r');
    await person.sees(/before ␛]0;title␇␛\[31mred after/);
    person.type('\x04');
    assert.equal(await person.code, 0);
  });

  it('takes a paste of several lines for one message', async (t) => {
    const person = sit(chat(OUTCOMES), t, workplace(t));
    await person.sees(PROMPT);
    person.type('one\rtwo\r');
    await person.sees(/› one\n {2}two[\s\S]*You said: one[\s\S]*two[\s\S]*1 model call/);
    person.type('\x04');
    assert.equal(await person.code, 0);
  });
});
