// An application that every logger of Node writes a line for. The argument is the port.
const express = require('express');
const fs = require('fs');
const morgan = require('morgan');

const app = express();
for (const name of ['combined', 'tiny']) {
  app.use(morgan(name, { stream: fs.createWriteStream(`ROOT/morgan-${name}.log`) }));
}
app.use(require('pino-http')({}, fs.createWriteStream('ROOT/pino.log')));
app.use((request, response) => response.end('ok'));
app.listen(29413, '127.0.0.1');
