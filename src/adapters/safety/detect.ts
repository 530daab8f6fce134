import { optionalPackage } from '../modules/optional-package.ts';

type Kind = 'secret' | 'email' | 'card' | 'iban' | 'ssn';

export interface Found {
  readonly kind: Kind;
  readonly from: number;
  readonly to: number;
}

const SECRETS = {
  purpose: 'finding secrets',
  needs: ['@secretlint/core', '@secretlint/secretlint-rule-preset-recommend'],
} as const;
const NUMBERS = { purpose: 'finding card and account numbers', needs: ['validator'] } as const;

/** Finds what is sensitive in a text. The packages for it are loaded on first use. Rejects `package_missing`. */
export async function detect(text: string, kinds: readonly Kind[]): Promise<readonly Found[]> {
  const found: Found[] = [];
  if (kinds.includes('secret')) found.push(...(await secretsIn(text)));
  if (kinds.includes('card') || kinds.includes('iban')) found.push(...(await numbersIn(text, kinds)));
  if (kinds.includes('email')) found.push(...placesOf('email', EMAIL, text));
  if (kinds.includes('ssn')) found.push(...placesOf('ssn', SSN, text));
  return found;
}

async function secretsIn(text: string): Promise<readonly Found[]> {
  const { lint } = await secretLinter();
  const ranges = text === '' ? [] : await lint(text);
  return ranges.map(([from, to]) => ({ kind: 'secret', from, to }));
}

interface SecretLinter {
  readonly lint: (text: string) => Promise<readonly (readonly [number, number])[]>;
}

let linter: Promise<SecretLinter> | undefined;

function secretLinter(): Promise<SecretLinter> {
  linter ??= optionalPackage(async () => {
    const [{ lintSource }, { creator }] = await Promise.all([
      import('@secretlint/core'),
      import('@secretlint/secretlint-rule-preset-recommend'),
    ]);
    const config = { rules: [{ id: SECRETS.needs[1], rule: creator, rules: [] }] };
    return {
      async lint(content: string) {
        const source = { content, filePath: '/text.txt', ext: '.txt', contentType: 'text' } as const;
        const { messages } = await lintSource({ source, options: { config, noPhysicFilePath: true } });
        return messages.map(({ range: [from, to] }) => [from, to] as const);
      },
    };
  }, SECRETS);
  // What was not installed may be by the next time.
  linter.catch(() => (linter = undefined));
  return linter;
}

/** Digits as people group them: 13 to 19 of a card, country, check digits and the rest of an account. */
const CARD = /(?<![\d.])\d(?:[ -]?\d){12,18}(?![\d.]?\d)/g;
const IBAN = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])/g;
/** One that nobody has been given begins with 000, 666 or 9, or has 00 or 0000 further on. */
const SSN = /(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/g;
/** The part before the sign is bounded, so that no text takes long. */
const EMAIL =
  /(?<![\w.+-])[\w.+-]{1,64}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![\w-])/g;

interface Checks {
  readonly isCreditCard: (text: string) => boolean;
  readonly isIBAN: (text: string) => boolean;
}

async function numbersIn(text: string, kinds: readonly Kind[]): Promise<readonly Found[]> {
  const { isCreditCard, isIBAN } = await checks();
  return [
    ...(kinds.includes('card') ? placesOf('card', CARD, text, (one) => isCreditCard(one.replace(/[ -]/g, ''))) : []),
    ...(kinds.includes('iban') ? placesOf('iban', IBAN, text, (one) => isIBAN(one.replaceAll(' ', ''))) : []),
  ];
}

function checks(): Promise<Checks> {
  return optionalPackage(async () => (await import('validator')).default, NUMBERS);
}

function placesOf(kind: Kind, pattern: RegExp, text: string, isReal: (found: string) => boolean = () => true): Found[] {
  return [...text.matchAll(pattern)]
    .filter(([found]) => isReal(found))
    .map(({ 0: found, index }) => ({ kind, from: index, to: index + found.length }));
}
