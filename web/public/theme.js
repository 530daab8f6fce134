// Before the first paint, so that a page in the dark does not flash.
(() => {
  const theme = localStorage.getItem('treadle.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
})();
