/**
 * Puts a text on the clipboard. It may be on its way still: browsers ask for the click, and not for the text, to be just now.
 *
 * Rejects where the browser does not let the page.
 */
export async function copyText(text: string | Promise<string>): Promise<void> {
  // Browsers have it for pages that came safely alone, whatever their types say.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) {
    copyBySelection(await text);
    return;
  }
  if (typeof text === 'string') {
    await clipboard.writeText(text);
    return;
  }
  const blob = text.then((found) => new Blob([found], { type: 'text/plain' }));
  await clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
}

/** The way from before there was a clipboard for pages; the one that is left over plain HTTP. */
function copyBySelection(text: string): void {
  const field = document.createElement('textarea');
  const focused = document.activeElement;
  field.value = text;
  field.className = 'visually-hidden';
  document.body.append(field);
  field.select();
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is no other over plain HTTP
  const isDone = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!isDone) throw new Error('The browser does not let the page copy.');
}
