/** So long the browser has to take the file over. Milliseconds. */
const TAKEN_MS = 60_000;

/** Hands a text to the browser as a file. */
export function download(name: string, mediaType: string, text: string): void {
  downloadBlob(name, new Blob([text], { type: mediaType }));
}

export function downloadBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, TAKEN_MS);
}
