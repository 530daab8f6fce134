/** The bridge between the tools, which the bundle imports, and the subject that counts them. */
export const running = { onTool: (): void => undefined };
