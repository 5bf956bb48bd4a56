claims! {
    "shop";

    fn products_are_found_by_words_kind_price_and_stock() {
        list_products {"limit": 2} => {"products": [{"sku": "bean-climbing"}, {"sku": "descaler"}], "next_offset": 2};
        list_products {"query": "tea COFFEE"} => {"products": [{"sku": "descaler", "price": 6.9, "stock": 18}], "next_offset": null};
        list_products {"category": "tools", "max_price": 10} => {"products": [{"sku": "brush-label"}, {"sku": "sealant-glass"}]};
        list_products {"category": "tools", "max_price": 10, "in_stock": true} => {"products": [{"sku": "brush-label"}]};
        list_products {"category": "toys"} => "unknown choice `toys`, expected one of `seeds`, `tools`, `pots`, `kitchen`";
        get_product {"sku": "can-10"} => {"name": "Watering can, 10 litres", "category": "tools"};
        get_product {"sku": "can-11"} => "there is no product can-11; list_products gives the ids";
    }

    fn an_order_takes_from_the_stock_and_cancelling_it_gives_back() {
        place_order {"customer": "Noor", "address": "1 Quay", "items": [{"sku": "descaler", "quantity": 2}, {"sku": "tea-mint", "quantity": 1}]}
            => {"id": 4, "status": "placed", "delivery": "standard", "total": 22.9,
                "items": [{"sku": "descaler", "name": "Descaler for coffee machines", "quantity": 2, "price": 6.9}, {"sku": "tea-mint"}]};
        get_product {"sku": "descaler"} => {"stock": 16};
        cancel_order {"order_id": 4, "reason": "Found one."} => {"status": "cancelled", "reason": "Found one."};
        get_product {"sku": "descaler"} => {"stock": 18};
        cancel_order {"order_id": 4} => "only an order that is `placed` can be changed or cancelled";
        get_order {"order_id": 4} => {"status": "cancelled"};
    }

    fn an_order_of_what_there_is_not_is_refused_as_a_whole() {
        place_order {"customer": "Noor", "address": "1 Quay", "items": [{"sku": "tea-mint", "quantity": 1}, {"sku": "can-10", "quantity": 7}]}
            => "there is less in stock than the order takes";
        place_order {"customer": "Noor", "address": "1 Quay", "items": [{"sku": "tea-mint", "quantity": 1}, {"sku": "tea-sage", "quantity": 1}]}
            => "each `sku` must be one of the shop's; list_products gives them";
        place_order {"customer": "Noor", "address": "1 Quay", "items": [{"sku": "tea-mint", "quantity": 0}]}
            => "`items`: `quantity`: must be from 1 to 1000, is 0";
        place_order {"customer": "Noor", "address": "1 Quay", "items": [{"sku": "tea-mint", "count": 1}]}
            => "`items`: unknown field `count`";
        get_product {"sku": "tea-mint"} => {"stock": 25};
        list_orders {} => {"orders": [{"id": 3}, {"id": 2}, {"id": 1}]};
    }

    fn orders_are_listed_changed_and_tracked() {
        list_orders {"status": ["sent", "delivered"]} => {"orders": [{"id": 2}, {"id": 1}]};
        list_orders {"customer": "amara"} => {"orders": [{"id": 3}]};
        change_order {"order_id": 3, "note": "Leave it at the stall."} => {"note": "Leave it at the stall.", "address": "3 Market Square"};
        change_order {"order_id": 2, "address": "Elsewhere"} => "not one that was sent";
        track_order {"order_id": 2} => {"order_id": 2, "status": "sent", "stops": [{"place": "Depot North"}, {"what": "on its way"}]};
        track_order {"order_id": 9} => "there is no order 9; list_orders gives the ids";
    }
}
