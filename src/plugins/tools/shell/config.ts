import { z } from 'zod';
import { key } from '../../../domain/bundle-key.ts';

const rules = z.array(z.string().trim().min(1).max(500)).max(500);

export const shellConfig = z.strictObject({
  allow: key(
    rules,
    'Commands that run without asking, such as `git diff *`: words of a program, `*` for letters of one or, at the end, any more words. A path such as `/opt/bin/git` is not `git`, unless it is the very file that the shell finds for `git`. `> build/*` is a file that is written, `< *` one that is read.',
    { otherwise: 'none' },
  ),
  ask: key(
    rules,
    'Commands that a person is asked about, whatever is allowed. `git` is about every file of that name here, and under `deny`.',
    { otherwise: 'none' },
  ),
  deny: key(rules, 'Commands that never run.', { otherwise: 'none' }),
  otherwise: key(
    z.enum(['allow', 'ask', 'deny']),
    'What becomes of a command that no rule is about. One that cannot be read for certain asks even so.',
    { default: 'ask' },
  ),
  sandbox: key(
    z.enum(['required', 'preferred', 'off']),
    '`required`: nothing runs outside of bubblewrap. `preferred`: a person is asked where there is none. `off`: commands run as you.',
    { default: 'preferred' },
  ),
  network: key(z.boolean(), 'Commands in the sandbox reach the network.', { default: false }),
  readable: key(
    z.array(z.string().startsWith('/')).max(50),
    'Folders outside of the root that commands in the sandbox may read.',
    { otherwise: 'those of the system' },
  ),
  environment: key(
    z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.string()),
    'Variables that commands see, besides PATH, HOME, LANG, TERM and TMPDIR.',
    { otherwise: 'none' },
  ),
  timeout_ms: key(z.int().min(100).max(3_600_000), 'Milliseconds that one command may take.', { default: 120_000 }),
  max_output_bytes: key(
    z.int().min(1_000).max(50_000_000),
    'What is kept of the output of one command: its beginning and its end.',
    { default: 1_000_000 },
  ),
  max_jobs: key(z.int().min(0).max(20), 'Commands in the background of one conversation at the same time.', {
    default: 4,
  }),
});
export type ShellConfig = z.output<typeof shellConfig>;
