CREATE TABLE products (
    sku TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    category TEXT NOT NULL,
    about TEXT NOT NULL,
    price REAL NOT NULL,
    stock INTEGER NOT NULL
        CONSTRAINT "there is less in stock than the order takes; list_products tells how much" CHECK (stock >= 0)
) WITHOUT ROWID;

CREATE TABLE orders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    customer TEXT NOT NULL,
    address TEXT NOT NULL,
    delivery TEXT NOT NULL DEFAULT 'standard',
    note TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT 'placed',
    reason TEXT,
    -- How many items were asked for.
    wanted INTEGER NOT NULL,
    -- A JSON array: what was ordered, at the price of that day.
    items TEXT NOT NULL
        CONSTRAINT "each `sku` must be one of the shop's; list_products gives them" CHECK (json_array_length(items) = wanted),
    total REAL NOT NULL,
    placed_at TEXT NOT NULL DEFAULT (strftime('%FT%TZ', 'now'))
);

CREATE TABLE stops (
    order_id INTEGER NOT NULL REFERENCES orders (id),
    at TEXT NOT NULL,
    place TEXT NOT NULL,
    what TEXT NOT NULL
);

CREATE INDEX stops_of_order ON stops (order_id);

INSERT INTO products (sku, name, category, about, price, stock) VALUES
    ('bean-climbing', 'Climbing beans, Blue Lake', 'seeds', '40 seeds. Sow from May, with poles of two metres.', 2.9, 64),
    ('brush-label', 'Label brush', 'tools', 'Cleans the rollers of label printers that smear.', 4.5, 9),
    ('can-10', 'Watering can, 10 litres', 'tools', 'Galvanised, with a brass rose.', 34, 6),
    ('descaler', 'Descaler for coffee machines', 'kitchen', 'Five doses. Takes away the taste of tea, too.', 6.9, 18),
    ('gauge-rain', 'Rain gauge', 'tools', 'Never reports negative values: it is made of glass.', 11.5, 12),
    ('lock-shed', 'Padlock for sheds', 'tools', 'Brass, with three keys.', 16.8, 7),
    ('pot-terracotta-20', 'Terracotta pot, 20 cm', 'pots', 'Frost-proof, with a hole and a saucer.', 7.25, 40),
    ('sealant-glass', 'Sealant for greenhouse glass', 'tools', 'One tube, clear. Seals three metres of roof.', 9.4, 0),
    ('tea-mint', 'Mint tea, 100 g', 'kitchen', 'Dried leaves from last summer.', 5.2, 25),
    ('tomato-cherry', 'Tomato seeds, Black Cherry', 'seeds', '20 seeds. Sow indoors in March.', 3.4, 120);

INSERT INTO orders (customer, address, delivery, note, status, wanted, items, total, placed_at) VALUES
    ('Ingrid Solberg', '4 Mill Lane', 'standard', '', 'delivered', 1,
     '[{"sku":"pot-terracotta-20","name":"Terracotta pot, 20 cm","quantity":6,"price":7.25}]', 47.4, '2026-09-21T09:12:00Z'),
    ('Luis Ferreira', 'The shed, 12 Orchard Road', 'express', 'Ring twice.', 'sent', 2,
     '[{"sku":"lock-shed","name":"Padlock for sheds","quantity":1,"price":16.8},{"sku":"gauge-rain","name":"Rain gauge","quantity":1,"price":11.5}]', 37.2, '2026-10-09T16:40:00Z'),
    ('Amara Okafor', '3 Market Square', 'standard', '', 'placed', 1,
     '[{"sku":"brush-label","name":"Label brush","quantity":1,"price":4.5}]', 8.4, '2026-10-12T11:05:00Z');

INSERT INTO stops (order_id, at, place, what) VALUES
    (1, '2026-09-22T07:30:00Z', 'Depot North', 'sorted'),
    (1, '2026-09-23T13:10:00Z', '4 Mill Lane', 'delivered'),
    (2, '2026-10-10T06:55:00Z', 'Depot North', 'sorted'),
    (2, '2026-10-10T18:20:00Z', 'Depot Harbour', 'on its way');

CREATE TRIGGER ordered_goods_leave_the_stock AFTER INSERT ON orders BEGIN
    UPDATE products SET stock = stock - (
        SELECT sum(value ->> 'quantity') FROM json_each(new.items) WHERE value ->> 'sku' = products.sku)
    WHERE sku IN (SELECT value ->> 'sku' FROM json_each(new.items));
END;

CREATE TRIGGER only_what_was_not_sent_changes BEFORE UPDATE ON orders WHEN old.status <> 'placed' BEGIN
    SELECT RAISE(ABORT, 'only an order that is `placed` can be changed or cancelled, not one that was sent or cancelled');
END;

CREATE TRIGGER cancelled_goods_come_back AFTER UPDATE OF status ON orders WHEN new.status = 'cancelled' BEGIN
    UPDATE products SET stock = stock + (
        SELECT sum(value ->> 'quantity') FROM json_each(new.items) WHERE value ->> 'sku' = products.sku)
    WHERE sku IN (SELECT value ->> 'sku' FROM json_each(new.items));
END;
