// npm run images: OCI images of both programs; what can be given is in `npm run images -- --help`.
const { main } = await import('../../tools/images/dist/main.js');
await main(process.argv.slice(2));
