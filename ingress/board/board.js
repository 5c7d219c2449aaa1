/* Replaces sections of the board with those that the server sends. The server renders them, so their markup is safe. */
const state = document.getElementById('live');
const events = new EventSource('events');

events.onmessage = ({ data }) => {
  for (const [id, text] of Object.entries(JSON.parse(data))) {
    const section = document.getElementById(id);
    // A section with the focus is not replaced.
    if (section && !section.contains(document.activeElement)) section.innerHTML = text;
  }
  show('live', 'Live');
};

events.onerror = () => {
  if (events.readyState === EventSource.CLOSED) show('ended', 'Not live: reload the page');
  else show('lost', 'Not live: connecting again');
};

function show(how, text) {
  if (state.dataset.state === how) return;
  state.dataset.state = how;
  state.textContent = text;
}
