/**
 * What a gate says beyond asking whether the tool may run: that, and the arguments, the card shows by itself. Every line
 * that only asks begins with `Allow` and the name.
 */
export function wordsOf(question: string, name: string | undefined): string {
  if (name === undefined) return question;
  const lines = question.split('\n').filter((line) => !line.startsWith(`Allow ${name} `));
  return lines.join('\n').trim();
}
