// Runs in the browser, beside the document's own address.
SwaggerUIBundle({
  url: new URL('../openapi.json', document.currentScript.src).href,
  dom_id: '#docs',
  deepLinking: true,
});
